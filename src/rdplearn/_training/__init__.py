"""How φ is trained: plans, boosting, and one loop that runs an engine stretch by stretch.

`members` plans and trains the detector's ensemble, `features` the transformer's φ; both hand tasks to `loop`, which
asks an engine (`engines`) for steps and writes down the losses. `checkpoint` keeps what is done so far.
Comes in: rows and settings. Goes out: trained members or a trained φ, with the history of their losses.
"""

"""One step of training, four times: plain NumPy, Numba on dense rows, Numba on sparse rows, PyTorch.

All follow the protocol in `engine`, draw the same random numbers and give the same result up to rounding.
Comes in: tasks (rows, targets, φ). Goes out: φ, trained in place.
"""

"""Out to any runtime: a fitted model as an ONNX graph.

Comes in: a fitted estimator. Goes out: a graph that takes the same matrix to the same numbers, without Python.
"""

"""From a fitted model to numbers for every row: anomaly scores, features, and the threshold.

Comes in: a matrix of any size and what was fitted. Goes out: one number, or one row of features, for each of its rows.
"""

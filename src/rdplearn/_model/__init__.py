"""What a fitted model is: random mappings η, representations φ, members side by side, how their scores are combined.

Formulas and arrays only. Nothing here trains, reads a file or knows the estimators.
Comes in: rows in single precision. Goes out: targets, representations, losses and scores of members.
"""

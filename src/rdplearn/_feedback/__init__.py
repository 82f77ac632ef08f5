"""Answers of a person about rows, on top of a fitted detector: told, learned from, kept, and taken back.

Labels never reach a fit. The detector stays as it is; what is learned here is how far to move its scores.
"""

"""Results on their way to a file: scored, explained, clustered and embedded rows, in any format, resumable.

Comes in: a model that takes tables, and batches of one. Goes out: a file that is whole, or can be continued.
"""

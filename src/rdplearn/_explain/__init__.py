"""Why a row scores as it does, and how far to trust the ranking.

Comes in: rows, their scores and a function that scores others. Goes out: contributions of columns, typical values,
figures of reliability.
"""

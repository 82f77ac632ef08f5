"""Whether to trust a ranking, and where to draw the line, without labels.

Everything here is a plain function of scores: `ranking_stability` of those by each member, `alarm_table` of those of
normal rows.
"""

"""Mixed tables: planted errors in real tables, who finds them, and whether the right column is named.

A table as people publish it has numbers, categories, dates, texts and holes. There are no labels, so errors are
planted, one kind at a time, in 1 % of the rows (`planting`).
"""

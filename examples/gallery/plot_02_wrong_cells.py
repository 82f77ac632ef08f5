"""
One wrong cell in a row
=======================

Most errors in tables are single cells: a slip of the decimal point, a wrong unit, a category that does not go with the
rest. Spoil a few cells of the penguins, then see which rows come first and which column gets the blame.
"""

import matplotlib.pyplot as plt
import pandas as pd

import rdplearn
from rdplearn.table import example_table

penguins = pd.read_csv(example_table()).dropna().reset_index(drop=True)
mistakes = {
    10: ("body_mass_g", "in kg", lambda value: value / 1000),
    60: ("bill_length_mm", "times ten", lambda value: value * 10),
    120: ("species", "another species", lambda value: "Gentoo"),
    200: ("flipper_length_mm", "digits swapped", lambda value: 912),
    250: ("island", "misspelt", lambda value: "Bisco"),
    300: ("bill_depth_mm", "negative", lambda value: -value),
}
spoiled = penguins.copy()
for row, (column, _, change) in mistakes.items():
    spoiled.loc[row, column] = change(penguins.loc[row, column])

# %%
# Every column has a voice of its own, by itself and beside the other columns. So one cell is enough.

found = rdplearn.detect(spoiled, reasons=True, random_state=0)
table = pd.DataFrame(
    {
        "mistake": [f"{column}: {what}" for column, what, _ in mistakes.values()],
        "rank": [found.loc[row, "rank"] for row in mistakes],
        "blamed": [found.loc[row, "reason_1"] for row in mistakes],
        "value": [found.loc[row, "value_1"] for row in mistakes],
        "usual": [found.loc[row, "typical_1"] for row in mistakes],
    }
)
table

# %%
# The scores of all rows, with the spoiled ones marked.

scores = found["anomaly_score"]
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.scatter(scores.index, scores, s=8, color="silver")
axes.scatter(list(mistakes), scores[list(mistakes)], s=40, color="crimson")
for row, (column, what, _) in mistakes.items():
    axes.annotate(f"{column}\n{what}", (row, scores[row]), (5, -4), textcoords="offset points", fontsize=7, va="top")
axes.set(xlabel="row", ylabel="anomaly score", ylim=(0, None))
plt.show()

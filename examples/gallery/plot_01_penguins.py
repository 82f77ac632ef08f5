"""
Unusual penguins, and why
=========================

The table that comes with rdplearn has 344 penguins: measurements, categories, and cells that are missing. Ask for the
4 in 100 that are most unusual, and see what is odd about each.
"""

import matplotlib.pyplot as plt
import pandas as pd

import rdplearn
from rdplearn.table import example_table

found = rdplearn.detect(pd.read_csv(example_table()), contamination=0.04, reasons=True, random_state=0)
reported = found[found["anomalous"]].sort_values("rank")
reported[["species", "anomaly_score", "reason_1", "value_1", "typical_1"]]

# %%
# Some are reported because cells are missing. The others have an odd value. Here they are among all penguins.

x, y = "bill_length_mm", "body_mass_g"
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for species, rows in found.groupby("species"):
    axes.scatter(rows[x], rows[y], s=14, alpha=0.6, label=species)
odd = reported[reported["value_1"] != ""].dropna(subset=["value_1", x])
axes.scatter(odd[x], odd[y], s=110, facecolors="none", edgecolors="crimson", label="reported for a value")
for _, row in odd.iterrows():
    axes.annotate(
        f"{row['reason_1']} {row['value_1']}", (row[x], row[y]), (8, 4), textcoords="offset points", fontsize=8
    )
axes.set(xlabel="bill length, mm", ylabel="body mass, g", title=f"{len(reported)} of {len(found)} are reported")
axes.legend()
plt.show()

"""
Where to draw the line
======================

A score says how unusual a row is. How many rows to look at is up to you. ``assess`` tells what each choice would cost,
without labels: how many rows are reported, and how many of them to expect by chance alone.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer

from rdplearn import RDPDetector

table = load_breast_cancer(as_frame=True).data
detector = RDPDetector(random_state=0).fit(table)
assessment = detector.assess(table)
print(assessment.stability.words())

# %%
# The alarms at several rates of false alarms. Rows beyond what chance would give are worth a look.

pd.DataFrame(
    {
        "rate": [alarms.false_alarm_rate for alarms in assessment.alarms],
        "line": [round(alarms.threshold, 2) for alarms in assessment.alarms],
        "reported": [alarms.n_alarms for alarms in assessment.alarms],
        "expected by chance": [round(alarms.n_expected, 1) for alarms in assessment.alarms],
    }
)

# %%
# The scores, and the lines of these rates. A score of 2 means that about one normal row in a hundred is as odd.

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.hist(-detector.score_samples(table), bins=60, color="steelblue", log=True)
for alarms in assessment.alarms:
    axes.axvline(alarms.threshold, color="crimson", linewidth=1)
    axes.text(
        alarms.threshold,
        0.98,
        f" {alarms.false_alarm_rate:.1%}",
        rotation=90,
        va="top",
        fontsize=8,
        transform=axes.get_xaxis_transform(),
    )
axes.set(xlabel="anomaly score", ylabel="rows")
plt.show()

# %%
# Take the rate whose alarms you have time for, and pass it on: ``RDPDetector(false_alarm_rate=0.01)``.

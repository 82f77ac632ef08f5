"""
When the data has changed
=========================

A model is fitted in January and used all year. ``watch`` compares each month with what the model remembers of its fit,
and says when a refit is due. This table of orders is made up: prices rise slowly, and from September on one country
writes its amounts in cents.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rdplearn


def orders(month: int) -> pd.DataFrame:
    """800 orders of a month, from 1 to 12."""
    rng = np.random.default_rng(month)
    country = rng.choice(["Norway", "Italy", "France"], 800)
    amount = 1.02 ** (month - 1) * np.exp(rng.normal(4, 0.5, 800))
    amount = np.where((month >= 9) & (country == "Italy"), 100 * amount, amount)
    return pd.DataFrame({"amount": amount.round(2), "items": rng.poisson(3, 800) + 1, "country": country})


january = orders(1)
model = rdplearn.TableModel(rdplearn.RDPDetector(random_state=0)).fit(january)
rdplearn.remember_scores(model, january)  # the command `rdplearn fit` does this by itself

# %%
# Watch every month.

months = range(2, 13)
verdicts = [rdplearn.watch(model, orders(month)) for month in months]
for month, verdict in zip(months, verdicts, strict=True):
    if verdict.due:
        print(f"Month {month}:", " ".join(verdict.sentences()))
        break

# %%
# How many rows a change touches, for each column. A refit is due where the bar is red.

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
amounts = [
    max(change["effect"] for change in verdict.columns() if change["column"] == "amount") for verdict in verdicts
]
axes.bar(list(months), amounts, color=["crimson" if verdict.due else "steelblue" for verdict in verdicts])
axes.set(xlabel="month", ylabel="share of rows touched", title="the column amount")
plt.show()

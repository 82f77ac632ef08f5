"""
In a notebook
=============

Models, explanations and charts show themselves. Put a name on the last line of a cell, and look at it. The link at
the end of this page gives you these cells as a notebook.
"""

# sphinx_gallery_thumbnail_path = "figures/report_light.png"
import pandas as pd

import rdplearn
from rdplearn import plots
from rdplearn.table import example_table

penguins = pd.read_csv(example_table())
model = rdplearn.TableModel(rdplearn.RDPDetector(contamination=0.04, random_state=0)).fit(penguins)

# %%
# A model shows what became of each column.

model

# %%
# An explanation shows the reasons of its rows. Take the three most unusual rows that have no missing cell.

scores = -model.score_samples(penguins)
complete = penguins.dropna().index
top = complete[scores[complete].argsort()[::-1][:3]]
explanation = model.explain(penguins, rows=top)
explanation

# %%
# The same in words.

print("\n".join(explanation.sentences(0)))

# %%
# Charts are Plotly figures: move over them, zoom, save. This is how the scores spread, with the line.

plots.score_distribution(scores, threshold=-model.estimator.offset_)

# %%
# What raises the score of the first of the three.

plots.contributions(explanation.column_names, explanation.contributions[0])

# %%
# The verdict on a later table: here the heavier half of the penguins.

rdplearn.remember_scores(model, penguins)
rdplearn.watch(model, penguins[penguins["body_mass_g"] > 4000])

# %%
# ``rdplearn.write_report(model, penguins, "report.html")`` writes the page for everybody else.

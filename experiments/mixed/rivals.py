"""The methods that ours is compared with: each takes a table of texts and gives every row an anomaly score.

`rarity` is no model at all. `trial_b` is a trial of 2026-11-17, written anew. Its committed lines are of the detector
as it was then, whose members were averaged geometrically. Of today's that would be a surprise, so what is below takes
the plain mean, and comes near those lines, not to the digit.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.ensemble import IsolationForest

from experiments.mixed.columns import Columns, frequencies, sort_columns
from rdplearn import RDPDetector

SCALE, CLIP = 0.8, 10.0  # of trial b's matrix
TAIL, BODY = 0.995, 0.95  # where a number's Pareto tail begins, and the cells that its index is learned on
MOST_STEEP = 8.0
WEIGHT_OF_CELLS = 0.5


def rarity(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """The largest surprise of any cell: robust z of numbers, -log frequency of categories and holes."""
    columns = sort_columns(frame)
    return np.max([*(_robust_z(columns.numbers[name]) for name in columns.numbers), *_rare_words(columns)], axis=0)


def isolation_forest(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """scikit-learn's, on numbers, indicators of categories, log frequencies of texts and indicators of holes."""
    columns = sort_columns(frame)
    words = [pd.get_dummies(columns.categories[name].astype(object)) for name in columns.categories]
    texts = [np.log(frequencies(columns.texts[name])).fillna(0.0) for name in columns.texts]
    numbers = columns.numbers.fillna(columns.numbers.median())
    matrix = pd.concat([numbers, *words, *texts, columns.holes], axis=1).to_numpy(dtype=float)
    return -IsolationForest(random_state=seed).fit(matrix).score_samples(matrix)


def trial_b(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Every column of the table has the same say, and one extreme cell is enough."""
    columns = sort_columns(frame)
    blocks = _balanced_words(columns)
    score = np.zeros(len(frame))
    for place, view in enumerate((_robust, _ranks)):
        numbers = [view(columns.numbers[name])[:, None] for name in columns.numbers]
        matrix = SCALE * np.concatenate([*numbers, *blocks], axis=1)
        detector = RDPDetector(views="unchanged", n_members=5, combination="mean", random_state=2 * seed + place)
        logs = np.log(-detector.fit(matrix).score_samples(matrix))
        score += (logs - logs.mean()) / logs.std()
    cells = [*(_tail_surprise(columns.numbers[name]) for name in columns.numbers), *_rare_words(columns)]
    return score + WEIGHT_OF_CELLS * np.maximum(0.0, np.max(cells, axis=0) - np.log(5 * frame.shape[1]))


RIVALS = {"rarity": rarity, "IsolationForest": isolation_forest, "trial b": trial_b}


def _robust_z(values: pd.Series) -> np.ndarray:
    low, middle, high = values.quantile([0.25, 0.5, 0.75])
    spread = (high - low) / 1.349 or values.std()
    return ((values - middle).abs() / spread).fillna(0.0).to_numpy()


def _rare_words(columns: Columns) -> list[np.ndarray]:
    """-log frequency of each category, and of each hole. Texts of many values are rare all of them: no surprise."""
    words = [-np.log(frequencies(columns.categories[name])) for name in columns.categories]
    holes = [columns.holes[name] * -np.log(columns.holes[name].mean()) for name in columns.holes]
    return [surprise.fillna(0.0).to_numpy() for surprise in (*words, *holes)]


def _tail_surprise(values: pd.Series) -> np.ndarray:
    """-log p of a number: the empirical tail of its distance from the median, a Pareto tail beyond 99.5 % of it."""
    away = (values - values.median()).abs()
    begin, end = away.quantile([BODY, TAIL])
    known = -np.log(np.maximum(away.rank(ascending=False, method="max") / away.count(), 1 - TAIL))
    between = away[(away > begin) & (away <= end)]
    if begin > 0 and len(between):
        index = min(1.0 / np.log(between / begin).mean(), MOST_STEEP)
        known += index * np.log(np.maximum(away / end, 1.0))
    if (values < 0).mean() < 1 - BODY and values.median() > 0:
        known = known.where(values >= 0, np.maximum(known, np.log(len(values))))
    return known.fillna(0.0).to_numpy()


def _robust(values: pd.Series) -> np.ndarray:
    low, middle, high = values.quantile([0.05, 0.5, 0.95])
    spread = (high - low) / 3.3 or values.std()
    return ((values - middle) / spread).clip(-CLIP, CLIP).fillna(0.0).to_numpy()


def _ranks(values: pd.Series) -> np.ndarray:
    return pd.Series(norm.ppf((values.rank() - 0.5) / values.count())).fillna(0.0).to_numpy()


def _balanced_words(columns: Columns) -> list[np.ndarray]:
    """Categories and holes as blocks of the weight of one column, texts by their log frequency."""
    words = [_indicators(columns.categories[name]) for name in columns.categories]
    holes = [_indicators(columns.holes[name].map({True: "hole", False: None})) for name in columns.holes]
    rare = [-np.log(frequencies(columns.texts[name])) for name in columns.texts]
    level = [((one - one.mean()) / (one.std() or 1.0)).fillna(0.0).to_numpy()[:, None] for one in rare]
    return [*words, *holes, *level]


def _indicators(cells: pd.Series) -> np.ndarray:
    found = pd.get_dummies(cells.astype(object)).to_numpy(dtype=float)
    share = found.mean(axis=0)
    return (found - share) / np.sqrt(np.maximum(share, 3 / len(cells))) / np.sqrt(max(found.shape[1] - 1, 1))

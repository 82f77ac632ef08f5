"""Small sets that need no file, for the quick budget and tests: scikit-learn's, and a made-up corpus."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments.preprocessing import Table, min_max

_TOPICS = (
    "grain wheat corn harvest tonne farm crop export maize barley",
    "bank rate loan interest credit money central market debt bond",
    "ship port cargo tanker gulf vessel crew sea strike dock",
)


def breast_cancer() -> Table:
    """Benign rows, and the first 20 malignant ones as anomalies."""
    rows, benign = load_breast_cancer(return_X_y=True)
    return _with_rare(rows, benign == 0)


def digits_0() -> Table:
    """Handwritten digits; the first 20 zeros are the anomalies."""
    rows, classes = load_digits(return_X_y=True)
    return _with_rare(rows, classes == 0)


def digits() -> Table:
    """Handwritten digits, 8 x 8 pixels, 10 classes."""
    rows, classes = load_digits(return_X_y=True)
    return (rows / 16).astype(np.float32), classes


def digit_profiles() -> Table:
    """Handwritten digits as 16 numbers, as pendigits has them: the ink in each line and in each column."""
    images, classes = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    return min_max(np.hstack([images.sum(axis=1), images.sum(axis=2)])), classes


def tumours() -> Table:
    """Breast tumours, malignant and benign, all of them."""
    rows, classes = load_breast_cancer(return_X_y=True)
    return min_max(rows), classes


def iris() -> Table:
    """Irises of three species, four measurements."""
    rows, classes = load_iris(return_X_y=True)
    return min_max(rows), classes


def wine() -> Table:
    """Wines of three growers."""
    rows, classes = load_wine(return_X_y=True)
    return min_max(rows), classes


def texts() -> tuple[list[str], np.ndarray]:
    """Documents of 20 words over three topics, two words in three from the topic's own list."""
    random = np.random.default_rng(0)
    topics = [np.array(words.split()) for words in _TOPICS]
    common = np.array(["the", "and", "of", "said", "will", "new", "year", "company", "week", "report"])
    classes = np.arange(120) % len(topics)
    documents = [
        " ".join(np.where(random.random(20) < 2 / 3, random.choice(topics[one], 20), random.choice(common, 20)))
        for one in classes
    ]
    return documents, classes


def text_table() -> Table:
    """TF-IDF of the made-up corpus, dense."""
    documents, classes = texts()
    return TfidfVectorizer().fit_transform(documents).toarray().astype(np.float32), classes


SETS = {
    "sklearn/breast_cancer": breast_cancer,
    "sklearn/digits_0": digits_0,
    "sklearn/digits": digits,
    "sklearn/digit_profiles": digit_profiles,
    "sklearn/wine": wine,
    "sklearn/tumours": tumours,
    "sklearn/iris": iris,
    "sklearn/texts": text_table,
}


def _with_rare(rows: np.ndarray, rare: np.ndarray, n_rare: int = 20) -> Table:
    kept = np.sort(np.concatenate([np.flatnonzero(~rare), np.flatnonzero(rare)[:n_rare]]))
    return min_max(rows[kept]), rare[kept].astype(np.int64)

"""Doc2Vec (Le, Mikolov 2014): gensim's; it reads the documents themselves, not the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

import numpy as np

_WORD = re.compile(r"\w\w+")


class Doc2Vec:
    """One vector a document, learned by predicting its words."""

    def __init__(self, *, n_components: int = 1_024, n_epochs: int = 10, seed: int = 0) -> None:
        self.n_components = n_components
        self.n_epochs = n_epochs
        self.seed = seed

    def fit(self, texts: Sequence[str]) -> Self:
        from gensim.models import doc2vec

        documents = [doc2vec.TaggedDocument(words(text), [place]) for place, text in enumerate(texts)]
        # one worker: with more, gensim's result depends on how the threads fall
        self.model_ = doc2vec.Doc2Vec(
            documents,
            vector_size=self.n_components,
            min_count=2,
            epochs=self.n_epochs,
            workers=1,
            seed=self.seed,
        )
        self._fitted_texts = texts
        return self

    def transform(self, texts: Sequence[str]) -> np.ndarray:
        if texts is self._fitted_texts:
            return self.model_.dv.vectors
        return np.stack([self.model_.infer_vector(words(text)) for text in texts])


def words(text: str) -> list[str]:
    """Give the words of two letters or more, in lower case.

    Examples
    --------
    >>> words("A stock split, again.")
    ['stock', 'split', 'again']
    """
    return _WORD.findall(text.lower())

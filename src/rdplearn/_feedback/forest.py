"""Which rows go together by random cuts: trees that split rows of the table at random, without looking at any answer.

Two rows are alike as far as trees put them into the same leaf. Leaves are small where rows are many and large where
they are few, so that an answer about a strange row reaches others that are strange in the same columns, however far
away they are. The trees are those of an isolation forest (Liu, Ting, Zhou 2008), the likeness is Ting's (2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rdplearn._feedback.compiled import fall_into_leaves, grow_trees
from rdplearn._types import Doubles, Ints, Matrix, dense, row_blocks

if TYPE_CHECKING:
    from rdplearn.detector import RDPDetector

N_TREES, DEPTH = 64, 8  # the way down a tree is a byte
ROWS_OF_A_TREE = 256
N_TRIES = 16  # columns to look at for one in which the rows of a node differ
SEED = 24  # which rows the detector keeps depends on its own seed already
CELLS_AT_ONCE = 2**22

Leaves = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Forest:
    """Random trees. Below node `i` are `2 i + 1`, for values up to the cut, and `2 i + 2`.

    columns : (n_trees, 2**DEPTH - 1), the column that each node cuts, as a place in `used`
    cuts : of the same shape; infinite where a node is not cut any more, so that all rows go left
    used : (n_used,), the columns of the matrix that are cut somewhere
    """

    columns: Ints
    cuts: Doubles
    used: Ints

    def __call__(self, matrix: Matrix) -> Leaves:
        """The leaf of every row in every tree, (n_rows, n_trees)."""
        leaves = np.zeros((matrix.shape[0], len(self.cuts)), dtype=np.uint8)
        for block in row_blocks(matrix.shape[0], max(CELLS_AT_ONCE // len(self.used), 1)):
            cells = np.ascontiguousarray(dense(matrix[block][:, self.used]), dtype=np.float64)
            fall_into_leaves(cells, self.columns, self.cuts, DEPTH, leaves[block])
        return leaves


def grow_forest(detector: RDPDetector, groups: Mapping[str, Sequence[int]] | None = None) -> Forest:
    """Grow trees on the rows that a fitted detector keeps of its table; of the same detector always the same.

    groups : matrix columns that are one column of a table; each group is cut as often, however many they are
    """
    kept = detector.typical_rows_
    rows = np.ascontiguousarray(dense(kept.company if kept.company.shape[0] else kept.rows), dtype=np.float64)
    of_groups = [[place] for place in range(rows.shape[1])] if groups is None else [list(g) for g in groups.values()]
    of_groups = [columns for columns in of_groups if columns]
    starts = np.cumsum([0, *map(len, of_groups)])
    random = np.random.default_rng(SEED)
    samples = np.array([random.permutation(len(rows))[:ROWS_OF_A_TREE] for _ in range(N_TREES)])
    draws = random.random((N_TREES, 2**DEPTH - 1, N_TRIES, 3))  # of a group, a column in it, and a cut
    columns = np.zeros(draws.shape[:2], dtype=np.int64)
    cuts = np.full(draws.shape[:2], np.inf)
    grow_trees(rows, samples, np.concatenate(of_groups), starts, draws, columns, cuts)
    used, places = np.unique(columns, return_inverse=True)
    return Forest(places.reshape(columns.shape), cuts, used)

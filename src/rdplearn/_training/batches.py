"""Which rows each step takes, and which is whose partner: the same for every engine that trains members together."""

from __future__ import annotations

import numpy as np

from rdplearn._training import random_stream
from rdplearn._training.task import Problem
from rdplearn._types import Ints


class Batches:
    """Draws the batches of a stack of members from the rows that each has kept.

    kept : of each member, as places among the rows of all members, one after the other; seeds : of each member
    """

    def __init__(self, kept: list[Ints], seeds: list[int], batch_size: int) -> None:
        self.seeds, self.batch_size = seeds, batch_size
        self.kept = np.concatenate(kept)
        self.n_kept = np.array([len(of_member) for of_member in kept])
        self.first_kept = np.cumsum(self.n_kept) - self.n_kept

    def draw(self, first_step: int, n_steps: int) -> tuple[Ints, Ints, random_stream.UInts]:
        """What is random in some steps.

        Returns the places of rows, (n_steps, n_members, batch_size), how far on in the batch each row's partner is,
        (n_steps, n_members), and the keys of dropout, likewise.
        """
        keys = random_stream.all_step_keys(self.seeds, first_step, n_steps)
        row_keys, partner_keys, drop_keys = keys[:, :, 0:1], keys[:, :, 1], keys[:, :, 2]
        chosen = random_stream.below(random_stream.words(row_keys, self.batch_size), self.n_kept[:, None])
        chosen += self.first_kept[:, None]
        shifts = 1 + random_stream.below(random_stream.words(partner_keys[:, :, None], 1)[:, :, 0], self.batch_size - 1)
        return self.kept[chosen], shifts, drop_keys


def batches_of(problems: list[Problem], batch_size: int) -> Batches:
    """The batches of members whose rows stand one after the other."""
    first_rows = np.cumsum([0, *(problem.rows.shape[0] for problem in problems[:-1])])
    kept = [first + problem.kept for first, problem in zip(first_rows, problems, strict=True)]
    return Batches(kept, [problem.seed for problem in problems], batch_size)

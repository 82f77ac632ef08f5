"""A detector that a person has answered: the same scores as ever, moved by what was told about some rows."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rdplearn._explain.kinds import ANSWERS_COLUMN
from rdplearn._feedback.answers import Answers, checked_answers, checked_names, row_keys, stacked, weighed
from rdplearn._feedback.asking import Asking
from rdplearn._feedback.columns import Columns, learn_columns, nearness
from rdplearn._feedback.explanation import ReviewedExplanation, told_in_words
from rdplearn._feedback.muting import MutingRule, rule_of_row
from rdplearn._feedback.process import (
    MEANT,
    SHARED_VARIANCE,
    Process,
    learn_process,
    near_moves,
    prior_variance,
    trust_variances,
)
from rdplearn._feedback.scale import Scale, learn_scale, scores_of
from rdplearn._model.threads import one_blas_thread
from rdplearn._to_dask import for_partitions
from rdplearn._types import Doubles, Ints, Matrix, dense, row_blocks
from rdplearn._views.matrix import read_matrix
from rdplearn.detector import RDPDetector, ReportingMixin
from rdplearn.table.typical import Typical, value_words

MOST_NAMED, SMALLEST_NAMED = 3, 0.1  # answered rows in an explanation, and their part of the largest
ROWS_AT_ONCE = 2**14  # their nearness to all answered rows stays small
LOWEST = 0.25  # times the threshold before any answer
LEAST_APART = 1e-4  # a threshold and an answered row
LEARNINGS = (1, 2)  # ways to learn from answers; the first, without trees and shared error, for files that have it


class Reviewed(ReportingMixin, BaseEstimator):
    """A fitted detector that takes answers and learns from them, without being fitted again.

    `rdplearn.review` makes one from a fitted detector or `TableModel`. Scores have their own scale: 0 is an ordinary
    row. Rows that are like no answered row keep the detector's order. See `docs/feedback.md`.

    Parameters
    ----------
    detector : fitted RDPDetector; it stays as it is

    Examples
    --------
    >>> import numpy as np, rdplearn
    >>> table = np.random.default_rng(0).normal(size=(500, 4))
    >>> table[:8, 0] += 6  # strange, and fine
    >>> table[8:16, 1] -= 6  # strange, and worth an alarm
    >>> detector = rdplearn.RDPDetector(n_members=5, n_rounds=2, random_state=0).fit(table)
    >>> reviewed = rdplearn.review(detector)
    >>> before = reviewed.score_samples(table)
    >>> reviewed = reviewed.tell(table[[0, 8]], ["normal", "anomalous"])
    >>> moved = before - reviewed.score_samples(table)
    >>> bool(moved[1:8].max() < 0 < moved[9:16].min())
    True
    """

    def __init__(self, detector: RDPDetector) -> None:
        self.detector = detector
        if not isinstance(detector, RDPDetector):
            raise TypeError(
                f"The 'detector' parameter of Reviewed must be a fitted RDPDetector. Got {type(detector).__name__} "
                "instead: rdplearn.review(model) takes a TableModel too."
            )
        check_is_fitted(detector)
        self.answers_ = Answers()
        self.rules_: list[MutingRule] = []
        self.groups_: Mapping[str, Sequence[int]] | None = None  # matrix columns of each column of a table
        self.learning_ = LEARNINGS[-1]
        self._made_for = _identity(detector)
        self._forget_learned()

    def __getattr__(self, name: str) -> Any:
        """What is not changed by answers, such as `history_`, `assess` and `n_jobs`, is the detector's own."""
        if name.startswith("__") or name == "detector":
            raise AttributeError(name)
        return getattr(self.detector, name)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters of the detector, such as `n_jobs`."""
        self.detector.set_params(**parameters)
        return self

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Renew the detector's oldest members with further rows; answers and muting rules stay, and count as before.

        See `RDPDetector.partial_fit`. The detector itself is renewed.
        """
        self.detector.partial_fit(X)
        self._made_for = _identity(self.detector)
        for learned in ("_columns", "_scale"):
            self.__dict__.pop(learned, None)
        self._forget_learned()
        return self

    # ---- answers

    @for_partitions
    def tell(self, rows: Any, answers: str | Sequence[str], *, names: Sequence[Any] | None = None) -> Self:
        """Take answers about rows. The order of calls does not matter.

        Parameters
        ----------
        rows : array, sparse matrix or data frame of shape (n_rows, n_columns)
        answers : "anomalous", "normal" or "unsure", one for each row, or one for all
            Several answers about the same row are averaged; `take_back` removes them.
        names : optional
            What explanations call the rows, such as their numbers in a table.
        """
        matrix = self._rows(rows)
        told = checked_answers(answers, matrix.shape[0])
        self.answers_.add(matrix, told, checked_names(names, matrix.shape[0]))
        self._forget_learned()
        return self

    @for_partitions
    def take_back(self, rows: Any) -> Self:
        """Forget what was told about rows; an error if nothing was told about any of them."""
        if self.answers_.remove(self._rows(rows)) == 0:
            raise ValueError("Nothing was told about any of these rows, so there is nothing to take back.")
        self._forget_learned()
        return self

    def answers(self) -> tuple[Matrix, list[str], list[str | None]]:
        """All that was told: rows, answers and names, as `tell` takes them."""
        told = [(each.row, answer, each.name) for each in self.answers_.in_order() for answer in each.answers]
        if not told:
            return np.empty((0, self.n_features_in_)), [], []
        rows, answers, names = zip(*told, strict=True)
        return stacked(rows), list(answers), list(names)

    def take_over(self, other: Reviewed) -> Self:
        """Take the answers, names and muting rules of another one, such as that of a detector before a new fit.

        Examples
        --------
        >>> import numpy as np, rdplearn
        >>> table = np.random.default_rng(0).normal(size=(500, 4))
        >>> detector = rdplearn.RDPDetector(n_members=2, n_rounds=1, random_state=0).fit(table)
        >>> old = rdplearn.review(detector).tell(table[:1], "normal", names=["the first"])
        >>> new = rdplearn.review(detector.fit(table[:400])).take_over(old)
        >>> new.answers()[1:]
        (['normal'], ['the first'])
        """
        if not isinstance(other, Reviewed):
            raise TypeError(
                f"The 'other' parameter of take_over must be a reviewed detector. Got {type(other).__name__} instead."
            )
        rows, answers, names = other.answers()
        if answers and rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"The answers are about rows of {rows.shape[1]} columns, and this detector has {self.n_features_in_}. "
                "Tell the rows that it knows."
            )
        for rule in other.rules_:
            self._require_new(rule.name)
        self.rules_ = [*self.rules_, *other.rules_]
        if answers:
            self.answers_.add(read_matrix(self._nameless, rows, reset=False), answers, names)
        self._forget_learned()
        return self

    @for_partitions
    def asking(self, X: Any) -> Asking:
        """The rows of a table to be asked about, one after the other: scored once, for many answers."""
        return Asking(self, X)

    @for_partitions
    def next(self, X: Any, n: int = 1, *, strategy: str = "top") -> Ints:
        """The places of the rows worth asking about, from 0, none of them answered yet; see `Asking.next`.

        Of a table in partitions, the rows themselves, in memory, ready for `tell`.
        """
        return self.asking(X).next(n, strategy=strategy)

    # ---- muting

    @for_partitions
    def mute(
        self, row: Any, same: str | Sequence[str] = (), *, name: str | None = None, values: Sequence[Any] | None = None
    ) -> MutingRule:
        """Do not report rows like this one: with the same first reason, and the same values in the columns `same`.

        Their scores are lowered to the threshold, so that they are still in the list; `muted` names the rule.

        Parameters
        ----------
        row : one row, of shape (1, n_columns), that was not told as anomalous
        same : columns that must be as in this row; one alone may be named as it is
        name : the name of the rule, for `unmute`; by default made from what it says
        values : the values of the row in the words of the table, for each group of columns; by default its numbers
        """
        matrix = self._rows(row)
        if matrix.shape[0] != 1:
            raise ValueError(f"The 'row' parameter of mute must be one row. Got {matrix.shape[0]} instead.")
        told = self.answers_.told.get(row_keys(matrix)[0])
        if told is not None and told.verdict == "anomalous":
            raise ValueError(
                "The row was told as anomalous, and a muting rule says that rows like it are fine. Take the answer "
                "back first, with take_back, or pass another row."
            )
        explanation = self._nameless.explain(matrix, groups=self._groups)
        cells = dense(explanation.values)[0] if values is None else values
        same_columns = [same] if isinstance(same, str) else list(same)
        words = {column: value_words(value) for column, value in zip(self._groups, cells, strict=True)}
        rule = rule_of_row(
            matrix, _first_reasons(explanation)[0], same_columns, name=name, groups=self._groups, words=words
        )
        self.add_rule(rule)
        return rule

    def add_rule(self, rule: MutingRule) -> None:
        """Add a rule; its name must be new."""
        self._require_new(rule.name)
        self.rules_.append(rule)

    def _require_new(self, name: str) -> None:
        if any(name == known.name for known in self.rules_):
            raise ValueError(f"There is a muting rule {name!r} already. Pass another name, or unmute it first.")

    def unmute(self, name: str) -> Self:
        """Remove a muting rule."""
        left = [rule for rule in self.rules_ if rule.name != name]
        if len(left) == len(self.rules_):
            known = ", ".join(repr(rule.name) for rule in self.rules_) or "none"
            raise ValueError(f"There is no muting rule {name!r}. The rules are: {known}.")
        self.rules_ = left
        return self

    @for_partitions
    def muted(self, X: Any) -> npt.NDArray[Any]:
        """For each row the name of the rule that mutes it, None for all others. Shape (n_rows,)."""
        matrix = self._rows(X)
        found = self._muting(matrix, self._moved(matrix)[0])
        names = np.array([*(rule.name for rule in self.rules_), None], dtype=object)
        return names[found]

    # ---- scores

    @property
    def offset_(self) -> float:
        """The threshold, on the scale of these scores.

        It goes down with what answers take from all rows, so that an alarm that is like no answered row stays one. Rows
        that were told as normal are below it, and those told as anomalous above, where answers do not contradict.
        """
        return -self._line

    @cached_property
    def _line(self) -> float:
        line = self._scale.threshold
        if self._process is None:
            return line
        line = max(line + min(self._move_of_others, 0.0), LOWEST * line)
        told = self.answers_.sure()
        scores, meant = self._moved(stacked([each.row for each in told]))[0], weighed(told)[0]
        low = np.max(scores[meant == MEANT["normal"]], initial=-np.inf) + LEAST_APART
        high = np.min(scores[meant == MEANT["anomalous"]], initial=np.inf) - LEAST_APART
        return float(np.clip(line, low, high)) if low <= high else line

    @property
    def _move_of_others(self) -> float:
        """How far answers move a row at the threshold that is as near to answered rows as most are."""
        assert self._process is not None
        company = self.detector.typical_rows_.company
        near = nearness(self._columns(company), self._process.points)
        of_trust = self._process.trust_moves(self._scale.at_threshold)
        return float(np.median(near_moves(near, self._process.weights))) + float(of_trust)

    @for_partitions
    def score_samples(self, X: Any) -> Doubles:
        """How normal each row is, given the answers: the higher, the more normal. Shape (n_rows,)."""
        matrix = self._rows(X)
        scores, _ = self._moved(matrix)
        return -self._put_down(scores, self._muting(matrix, scores))

    @for_partitions
    def uncertainty(self, X: Any) -> Doubles:
        """How far the score of each row may be from what a person would say: a standard deviation. Shape (n_rows,)."""
        matrix = self._rows(X)
        opinions = self._opinions(matrix)
        if self._process is None:
            return np.sqrt(prior_variance(opinions, trust_variances(opinions.shape[1] - 1)))
        seen, found = self._columns(matrix), np.empty(matrix.shape[0])
        for block in row_blocks(matrix.shape[0], ROWS_AT_ONCE):
            found[block] = self._process.uncertainty(nearness(seen[block], self._process.points), opinions[block])
        return found

    @for_partitions
    def explain(self, X: Any, *, groups: Mapping[str, Sequence[int]] | None = None) -> ReviewedExplanation:
        """Which columns, and which answers, made each row as anomalous as it is; see `RDPDetector.explain`.

        The answers stand beside the columns as one more, "your answers": its contribution is how far they moved the
        score, its value names the answered rows that did it, and all contributions still add up.
        """
        explanation = self.detector.explain(X, groups=groups)
        matrix = self._rows(X)
        scores, opinions = self._moved(matrix)
        prior = self._scale.with_gap(opinions[:, 0])
        muting = self._muting(matrix, scores)
        final = self._put_down(scores, muting)
        baseline = self._scale.score(explanation.baseline)
        with np.errstate(divide="ignore", invalid="ignore"):
            stretch = np.nan_to_num((prior - baseline) / (explanation.anomaly_scores - explanation.baseline))
        told = np.array(self._told(matrix, opinions, muting), dtype=object)
        contributions, values = dense(explanation.contributions), dense(explanation.values)
        return ReviewedExplanation(
            column_names=[*explanation.column_names, ANSWERS_COLUMN],
            contributions=np.column_stack([contributions * stretch[:, None], final - prior]),
            anomaly_scores=final,
            baseline=baseline,
            values=np.column_stack([values.astype(object), told]),
            typical=[*explanation.typical, Typical()],
            typical_rows=_with_empty_column(explanation.typical_rows),
            pairs=explanation.pairs,
        )

    # ---- what is learned

    def _rows(self, X: Any) -> Matrix:
        if _identity(self.detector) != self._made_for:
            raise ValueError(
                "The detector was fitted again after these answers were told, so they are about scores that no longer "
                "exist. Nothing is lost: rdplearn.review(model).take_over(old) takes answers, names and muting rules "
                "along."
            )
        return read_matrix(self.detector, X, reset=False)

    def group_columns(self, groups: Mapping[str, Sequence[int]]) -> None:
        """Say which columns of the matrix are one column of a table; rules and nearness go by these."""
        self.groups_ = groups
        self.__dict__.pop("_columns", None)
        self._forget_learned()

    def _forget_learned(self) -> None:
        for learned in ("_process", "_line"):
            self.__dict__.pop(learned, None)

    @cached_property
    def _columns(self) -> Columns:
        return learn_columns(self.detector, self.groups_, with_forest=self.learning_ > 1)

    @cached_property
    def _scale(self) -> Scale:
        return learn_scale(self.detector)

    @property
    def _nameless(self) -> RDPDetector:
        """The detector without the names of columns: matrices have been checked against them already."""
        nameless = copy.copy(self.detector)
        nameless.__dict__.pop("feature_names_in_", None)
        return nameless

    @property
    def _groups(self) -> Mapping[str, Sequence[int]]:
        names = self.detector._column_names()
        return {name: [place] for place, name in enumerate(names)} if self.groups_ is None else self.groups_

    @cached_property
    def _process(self) -> Process | None:
        told = self.answers_.sure()
        if not told:
            return None
        rows = stacked([each.row for each in told])
        shared = SHARED_VARIANCE if self.learning_ > 1 else 0.0
        with one_blas_thread():
            return learn_process(self._columns(rows), self._opinions(rows), *weighed(told), shared_variance=shared)

    def _opinions(self, matrix: Matrix) -> Doubles:
        return self._scale.opinions(scores_of(self.detector, matrix))

    def _moved(self, matrix: Matrix) -> tuple[Doubles, Doubles]:
        """Scores with the answers, before muting, and what the detector and its members say without them."""
        opinions = self._opinions(matrix)
        return self._scale.with_gap(opinions[:, 0]) + self._moves(matrix, opinions), opinions

    def _moves(self, matrix: Matrix, opinions: Doubles) -> Doubles:
        if self._process is None:
            return np.zeros(len(opinions))
        seen = self._columns(matrix)
        blocks = row_blocks(len(opinions), ROWS_AT_ONCE)
        points = self._process.points
        with one_blas_thread():
            parts = [self._process.moves(nearness(seen[block], points), opinions[block]) for block in blocks]
        return np.concatenate(parts)

    def _muting(self, matrix: Matrix, scores: Doubles) -> Ints:
        """The rule that mutes each row, -1 for none. Only rows that would be reported are looked at."""
        found = np.full(len(scores), -1, dtype=np.int64)
        if not self.rules_:
            return found
        fits = np.array([rule.fits_values(matrix) for rule in self.rules_])  # (n_rules, n_rows)
        reported = np.flatnonzero((scores > -self.offset_) & fits.any(axis=0))
        if len(reported):
            reasons = _first_reasons(self._nameless.explain(matrix[reported], groups=self._groups))
            for number, rule in reversed(list(enumerate(self.rules_))):  # of several rules the first
                found[reported[fits[number, reported] & (reasons == rule.reason)]] = number
        return found

    def _put_down(self, scores: Doubles, muting: Ints) -> Doubles:
        return np.where(muting >= 0, -self.offset_, scores)

    def _told(self, matrix: Matrix, opinions: Doubles, muting: Ints) -> list[str]:
        """For each row, in words: which answered rows moved it most, and which rule mutes it."""
        words = [[] if rule < 0 else [f"muted by {self.rules_[rule].name!r}"] for rule in muting]
        if self._process is not None:
            told = self.answers_.sure()
            parts = self._process.parts(nearness(self._columns(matrix), self._process.points), opinions)
            for row, part in enumerate(parts):
                largest = np.argsort(-np.abs(part), kind="stable")[:MOST_NAMED]
                largest = largest[np.abs(part[largest]) > SMALLEST_NAMED * np.abs(part).max()]
                # of the rows that one point stands for, the first
                words[row] += told_in_words([(place, told[place]) for place in self._process.first_answers(largest)])
        return ["; ".join(each) for each in words]


def _identity(detector: RDPDetector) -> tuple[float, ...]:
    """What changes when a detector is fitted again: its threshold, its columns, and what is typical to each member."""
    typical = np.concatenate([panel.typical for panel in detector.panels_])
    return (float(detector.offset_), float(detector.n_features_in_), *typical.tolist())


def _first_reasons(explanation: Any) -> npt.NDArray[Any]:
    return np.asarray(explanation.column_names, dtype=object)[dense(explanation.contributions).argmax(axis=1)]


def _with_empty_column(typical_rows: Any) -> Any:
    if typical_rows is None:
        return None
    rows = dense(typical_rows)
    return np.column_stack([rows, np.full(len(rows), np.nan)])

"""The training steps on the compiled kernels: same result as `PlainEngine`, up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rdplearn._model.decoder import Decoder
from rdplearn._training import random_stream
from rdplearn._training.engines import dense_kernels, sparse_kernels
from rdplearn._training.reconstruction import chance_limits, column_chances
from rdplearn._training.settings import Losses, TrainingSettings, TrainingTask
from rdplearn._types import Arrays


class CompiledEngine:
    """Train φ of every task in place, one after the other: stacking them would gain nothing."""

    def __init__(self, tasks: list[TrainingTask], settings: TrainingSettings) -> None:
        self.members = [CompiledMember(task, settings) for task in tasks]
        self.is_resting = [False] * len(tasks)

    def run(self, first_step: int, n_steps: int) -> list[Losses]:
        """Take `n_steps` steps; returns the mean losses of every member."""
        pairs = zip(self.members, self.is_resting, strict=True)
        return [Losses() if rests else member.run(first_step, n_steps) for member, rests in pairs]

    def stop(self, number: int) -> None:
        """Let one member rest from now on."""
        self.is_resting[number] = True

    def finish(self) -> None:
        """Leave what was learned in the tasks."""
        for member in self.members:
            member.finish()

    def state(self) -> Arrays:
        """All that changes while training, to go on from later."""
        states = [member.state() for member in self.members]
        return {f"{number}.{name}": array for number, state in enumerate(states) for name, array in state.items()}

    def restore(self, state: Arrays) -> None:
        """Go back to a `state`."""
        for name, array in self.state().items():
            array[...] = state[name]


class CompiledMember:
    """One task at work."""

    def __init__(self, task: TrainingTask, settings: TrainingSettings) -> None:
        self.task, self.settings = task, settings
        self.targets = np.ascontiguousarray(task.targets)
        self.target_scale = np.ones(len(self.targets), dtype=np.float32)
        if settings.inner_product == "l1":
            dense_kernels.inverse_l1_norms(self.targets, self.target_scale)
        self.parameters = (task.phi.weights, task.phi.bias)
        self.momenta = (np.zeros_like(task.phi.weights), np.zeros_like(task.phi.bias))
        self.rates = tuple(map(np.float32, (settings.learning_rate, settings.momentum, settings.max_grad_norm)))
        self.lazy = LazyMomentum(task, settings) if sp.issparse(task.rows) else None
        self.decoding = None if task.decoder is None else Decoding(task, task.decoder, settings)
        self.n_steps_taken = 0

    def run(self, first_step: int, n_steps: int) -> Losses:
        """Take `n_steps` steps on batches drawn from the rows kept."""
        settings, seed = self.settings, self.task.seed
        column_keys = random_stream.step_keys(seed, first_step, n_steps, random_stream.COLUMNS)
        common = (
            self.targets,
            self.target_scale,
            self.task.kept,
            np.column_stack([random_stream.all_step_keys([seed], first_step, n_steps)[:, 0], column_keys]),
            settings.batch_size,
            self.parameters,
            self.momenta,
            (np.float32(settings.distance_weight), np.float32(settings.novelty_weight)),
            settings.inner_product == "l1",
            random_stream.drop_limit(settings.dropout),
            self.rates,
            None if self.decoding is None else self.decoding.for_kernel,
        )
        if self.lazy is None:
            losses = dense_kernels.train_dense(self.task.rows, *common)
        else:
            losses = sparse_kernels.train_sparse(*self.lazy.columns, first_step, self.lazy.decay, *common)
        self.n_steps_taken = first_step + n_steps
        return Losses(*losses)

    def state(self) -> Arrays:
        """All that changes while training, to go on from later."""
        arrays: Arrays = {"weights": self.parameters[0], "bias": self.parameters[1]}
        arrays |= {"weight_momenta": self.momenta[0], "bias_momenta": self.momenta[1]}
        if self.lazy is not None:
            arrays["last_used"] = self.lazy.last_used
        return arrays if self.decoding is None else arrays | self.decoding.state

    def finish(self) -> None:
        """Let every row of W and of the decoder that was not used lately catch up with its momentum."""
        if self.lazy is None:
            return
        learning_rate, momentum, _ = self.rates
        rest = self.n_steps_taken - 1, learning_rate, momentum, self.lazy.decay
        sparse_kernels.catch_up_all(self.parameters[0], self.momenta[0], self.lazy.last_used, *rest)
        if self.decoding is not None:
            weights, bias, momenta, bias_momenta = self.decoding.for_kernel[:4]
            last_used = self.decoding.last_used
            sparse_kernels.catch_up_all(bias[:, None], bias_momenta[:, None], last_used.copy(), *rest)
            sparse_kernels.catch_up_all(weights, momenta, last_used, *rest)


class LazyMomentum:
    """What the sparse kernel needs to know of the rows and of each column's past."""

    def __init__(self, task: TrainingTask, settings: TrainingSettings) -> None:
        rows = task.rows
        indptr = rows.indptr.astype(np.int64)
        longest_row = int(np.diff(indptr).max())
        n_touched = min(rows.shape[1], max(1, longest_row * settings.batch_size))
        self.last_used = np.full(rows.shape[1], -1, dtype=np.int64)
        gradient = np.empty((n_touched, task.phi.weights.shape[1]), dtype=np.float32)
        self.columns = (rows.data, rows.indices.astype(np.int64), indptr, longest_row, self.last_used, gradient)
        # Beyond this many idle steps nothing is left of the momentum in single precision.
        n_powers = 2 if settings.momentum == 0 else int(np.ceil(-46.0 / np.log(settings.momentum))) + 2
        self.decay = (settings.momentum ** np.arange(n_powers)).astype(np.float32)


class Decoding:
    """What the kernels need to know of the decoder. for_kernel : see `train_dense` and `train_sparse`."""

    def __init__(self, task: TrainingTask, decoder: Decoder, settings: TrainingSettings) -> None:
        momenta = np.zeros_like(decoder.weights), np.zeros_like(decoder.bias)
        room = np.empty_like(decoder.weights), np.empty_like(decoder.bias)
        weight = np.float32(settings.reconstruction_weight)
        self.last_used = np.full(len(decoder.weights), -1, dtype=np.int64)
        self.for_kernel: tuple[Any, ...] = (decoder.weights, decoder.bias, *momenta, *room, weight, task.n_columns)
        if sp.issparse(task.rows):
            chances = column_chances(task.rows)
            self.for_kernel += (self.last_used, chance_limits(chances), 1 / chances)
        self.state: Arrays = {
            "decoder_weights": decoder.weights,
            "decoder_bias": decoder.bias,
            "decoder_momenta": momenta[0],
            "decoder_bias_momenta": momenta[1],
            "decoder_last_used": self.last_used,
        }

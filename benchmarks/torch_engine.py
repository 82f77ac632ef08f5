"""The torch engine: 30 members stacked in one computation, against the same members one after the other."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.engine import BATCH_SIZE, N_COMPONENTS, paper_settings, table
from benchmarks.measuring import best_times
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import draw_representation
from rdplearn._training.settings import TrainingTask
from rdplearn._training.torch_options import TorchOptions

N_MEMBERS = 30


def torch_stack() -> list[dict[str, object]]:
    """One thread each, CPU time: a step of 30 members at once, and 30 steps of the step-by-step reference."""
    import torch

    from benchmarks.autograd_member import AutogradMember
    from rdplearn._training.engines.torch_steps import TorchEngine

    torch.set_num_threads(1)
    results: list[dict[str, object]] = []
    for n_columns in (10, 64, 200):
        problems, rows = [], table(10_000, n_columns)
        for number in range(N_MEMBERS):
            rng = np.random.default_rng(number)
            mapping = draw_mapping("leaky", rows, np.arange(len(rows)), N_COMPONENTS, rng)
            phi = draw_representation(n_columns, N_COMPONENTS, rng)
            problems.append(TrainingTask(rows, mapping(rows), np.arange(len(rows)), phi, number))
        member = AutogradMember(phi.weights, phi.bias, mapping.weights)
        steps = TorchEngine(problems, paper_settings(1000), TorchOptions(device="cpu"))
        n_ours, n_theirs = 10, 100

        def ours(steps: TorchEngine = steps, n_steps: int = n_ours) -> None:
            steps.run(0, n_steps)

        def theirs(member: AutogradMember = member, rows: np.ndarray = rows, n_steps: int = n_theirs) -> None:
            member.train(rows, n_steps, BATCH_SIZE)

        ours()
        seconds = best_times({"stacked": ours, "one by one": theirs}, n_turns=7, clock=time.thread_time)
        per_step = {"stacked": seconds["stacked"] / n_ours / N_MEMBERS, "one by one": seconds["one by one"] / n_theirs}
        results.append(
            {
                "columns": n_columns,
                "us per member and step": 1e6 * per_step["stacked"],
                "one by one": 1e6 * per_step["one by one"],
                "times faster": per_step["one by one"] / per_step["stacked"],
                "wanted": 5,
            }
        )
    return results


ALL = {"torch": torch_stack}

"""Where and how tensors are computed: the device, its memory, threads, and the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from joblib import effective_n_jobs

from rdplearn._training.torch_options import Device
from rdplearn.errors import warn_user

SHARE_FOR_ROWS = 0.5  # of a device's free memory; the rest is for batches, weights and other programs


def find_device(wanted: Device) -> torch.device:
    """The device asked for, or the fastest that there is."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return torch.device(next(name for name, is_there in there.items() if is_there))
    if not there[wanted]:
        found = ", ".join(repr(name) for name, is_there in there.items() if is_there)
        raise ValueError(
            f"The 'device' must be one that PyTorch finds on this machine: {found}. Got {wanted!r} instead; pass "
            "device='auto' for the fastest one."
        )
    return torch.device(wanted)


def room_for_rows(device: torch.device) -> float:
    """Bytes of rows that may stay on the device; where they live already, there is always room."""
    if device.type == "cuda":
        return SHARE_FOR_ROWS * torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return SHARE_FOR_ROWS * (torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory())
    return float("inf")


@contextmanager
def torch_threads(n_jobs: int | None) -> Iterator[None]:
    """Let PyTorch compute on so many threads within a `with` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(effective_n_jobs(n_jobs))
    try:
        yield
    finally:
        torch.set_num_threads(before)


class CompiledOrNot:
    """A function compiled by `torch.compile`, or as it is where that fails."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.plain = function
        self.compiled: Callable[..., Any] | None = None
        self.failed = False

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        if self.failed:
            return self.plain(*arguments)
        try:
            self.compiled = self.compiled or torch.compile(self.plain)
            return self.compiled(*arguments)
        except Exception as fault:  # the compiler is a large machine: whatever breaks in it, training goes on
            result = self.plain(*arguments)  # raises what is the function's own fault
            self.failed = True
            warn_user(f"torch.compile failed ({' '.join(str(fault).split())[:160]}); training goes on without it.")
            return result

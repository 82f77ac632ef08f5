"""`random_stream.py` on tensors: the same words for the same keys, on any device.

PyTorch computes with 32-bit words only as signed integers, whose products wrap as those of unsigned ones do; shifts to
the right have the bits that came in from the sign taken off again.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from rdplearn._training import random_stream

SIGN = -(2**31)


def signed(words: random_stream.UInts) -> Tensor:
    """Unsigned 32-bit words of NumPy as signed ones with the same bits."""
    return torch.from_numpy(np.ascontiguousarray(words).view(np.int32))


def _signed_constant(word: int) -> int:
    return int(np.array(word, dtype=np.uint32).view(np.int32))


GOLDEN = _signed_constant(int(random_stream.GOLDEN))
FACTORS = tuple(map(_signed_constant, (0x85EBCA6B, 0xC2B2AE35)))


def scramble_(words: Tensor) -> Tensor:
    """Spread every bit of each 32-bit word over all others, in place."""
    for shift, factor in ((16, FACTORS[0]), (13, FACTORS[1])):
        words ^= (words >> shift).bitwise_and_(2 ** (32 - shift) - 1)
        words *= factor
    words ^= (words >> 16).bitwise_and_(0xFFFF)
    return words


def keep_mask(keys: Tensor, n_words: int, drop_limit: int) -> Tensor:
    """Which units dropout keeps: (n_members, n_words). keys : (n_members,), signed."""
    positions = torch.arange(n_words, dtype=torch.int32, device=keys.device).mul_(GOLDEN)
    words = scramble_(positions + keys[:, None])
    return (words ^ SIGN) >= drop_limit + SIGN  # with the sign turned, signed order is unsigned order

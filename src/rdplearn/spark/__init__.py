"""Spark: score a data frame where its rows are.

Comes in: a Spark data frame and a model. Goes out: the same frame with scores, lazy as everything of Spark.
"""

from __future__ import annotations

from rdplearn.spark.scoring import score

__all__ = ["score"]

"""The paper's claims, one a row: what it prints, what we find, and a verdict by a rule that is stated.

A claim is a function of the evidence (the result lines). It counts and compares means over runs, rounded as tables
print them; the verdict follows from the counts by its rule. The rules were written after most results had been
seen, so that a verdict is a summary of the tables, not a test that could have failed unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from experiments.claims import clustering, detection, statements
from experiments.claims.evidence import DOES_NOT, HOLDS, OPEN, PARTLY, TABLES_PAGE, Claim, Evidence
from experiments.markdown import markdown_table
from experiments.theory import command as theory_command

__all__ = ["CLAIMS", "DOES_NOT", "HOLDS", "OPEN", "PARTLY", "TABLES_PAGE", "Claim", "Evidence", "as_markdown", "judged",
           "reasons_as_markdown"]  # fmt: skip

CLAIMS: tuple[Callable[[Evidence], Claim], ...] = (
    detection.best_on_most,
    detection.significant,
    detection.gains_above_a_tenth,
    detection.distance_loss_matters,
    detection.novelty_loss_matters,
    detection.boosting_matters_less,
    detection.mapping_beats_original,
    detection.projection_beats_original,
    detection.distances_alone,
    clustering.best_on_text,
    clustering.consistent,
    clustering.losses,
    clustering.distances_suffice,
    clustering.sources,
    clustering.better_than_raw,
    clustering.on_doc2vec,
    clustering.on_rotnet,
    clustering.classification,
    detection.runtime,
    clustering.runtime,
    detection.dimension,
    clustering.dimension,
    statements.deeper,
    statements.projections_keep,
    statements.kernel_unbiased,
    statements.learns_classes,
    statements.mends_distances,
    statements.loss_is_learned,
)


def judged(records: Iterable[dict[str, Any]], theory_folder: Path = theory_command.FOLDER) -> list[Claim]:
    """Judge all claims."""
    evidence = Evidence(records, theory_folder)
    return [claim(evidence) for claim in CLAIMS]


def as_markdown(claims: Iterable[Claim]) -> str:
    """Print the table of claims."""
    header = ["the paper's claim", "paper", "ours", "verdict", "see"]
    return markdown_table(
        header, [[_escaped(cell) for cell in (c.claim, c.paper, c.ours, f"**{c.verdict}**", c.see)] for c in claims]
    )


def reasons_as_markdown(claims: Iterable[Claim]) -> str:
    """List what each verdict rests on: its figures in full, and its rule."""
    return "\n".join(
        f"- **{_escaped(claim.claim)}**: {claim.verdict}. "
        + (f"{_escaped(claim.figures)}. " if claim.figures else "")
        + f"*Rule*: {claim.rule}."
        for claim in claims
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\")

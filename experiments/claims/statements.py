"""Claims that the paper makes without an experiment: its theory, and a sentence on depth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.claims.evidence import DOES_NOT, HOLDS, OPEN, Claim, Evidence, by_counts, named, see
from experiments.theory import bounds, class_structure, learning


def deeper(evidence: Evidence) -> Claim:
    good = total = 0
    told = []
    for table, metric, title in (("depth_detection", "auc_roc", "AUC-ROC"), ("depth_clustering", "mapped_nmi", "NMI")):
        for depth in ("2 layers", "3 layers"):
            _, values = evidence.values(table, metric, ("1 layer", depth))
            if len(values):
                wins = int((values[:, 0] > values[:, 1]).sum())
                good, total = good + wins, total + len(values)
                gap = float((values[:, 1] - values[:, 0]).mean())
                told.append(f"{depth} worse on {wins} of {len(values)} by {title} (mean {gap:+.3f})")
    return Claim(
        "deeper networks do worse, in detection and in clustering (appendix A)",
        "a sentence without numbers",
        f"in {good} of {total} comparisons" if told else "-",
        by_counts(good, total, enough=0.75),
        "short trainings on some sets; holds from three quarters of the comparisons, partly from half",
        see("depth_detection", "depth_clustering"),
        "; ".join(told),
    )


def projections_keep(evidence: Evidence) -> Claim:
    records = evidence.theory("bounds")
    within = total = 0
    for record in records:
        size = record["setting"]["n_targets"]
        for tolerance in bounds.TOLERANCES:
            for kind, bound in (("norms", bounds.norm_bound), ("inner_products", bounds.inner_product_bound)):
                total += 1
                within += record["measured"][f"{kind}_beyond_{tolerance}"] <= bound(tolerance, size)
    return Claim(
        "random projections keep norms and inner products within the bounds of equations 6 and 7",
        "theorems",
        f"in {within} of {total} settings" if total else "-",
        by_counts(within, total),
        "the share beyond ε is at or below the bound; holds if in all settings, partly from half",
        "[Statements](#statements)",
    )


def kernel_unbiased(evidence: Evidence) -> Claim:
    shares = [record["measured"]["pairs_beyond_two_standard_errors"] for record in evidence.theory("kernel")]
    return Claim(
        "inner products of Fourier features estimate the kernel without bias (section 3.2, equation 8)",
        "a theorem",
        f"{100 * np.mean(shares):.1f}% of pairs off, where 5% are expected" if shares else "-",
        OPEN if not shares else HOLDS if np.mean(shares) <= 0.08 else DOES_NOT,
        "off is by more than two standard errors; holds up to 8%",
        "[Statements](#statements)",
    )


def learns_classes(evidence: Evidence) -> Claim:
    return _classes(
        evidence,
        lambda noise: noise == 0,
        "predicting distances gives a richer space than the random one (section 3.3)",
    )


def mends_distances(evidence: Evidence) -> Claim:
    return _classes(
        evidence, lambda noise: noise > 0, "predicting distances mends what is wrong in corrupted ones (section 3.3)"
    )  # fmt: skip


def _classes(evidence: Evidence, wanted: Callable[[float], bool], title: str) -> Claim:
    records = evidence.theory("class_structure")
    kinds = sorted({(r["setting"]["data"], r["setting"]["noise"]) for r in records if wanted(r["setting"]["noise"])})
    good, told = 0, []
    for data, noise in kinds:
        over = class_structure.means(records, data, noise)
        start, last = min(step for step in over if step > 0), max(over)
        good += over[last] > max(over[0], over[start]) + 0.005
        what = f"{named(data)}{f', noise {noise:g}:' if noise else ''}"
        told.append(f"{what} {over[0]:.3f}, {over[start]:.3f}, {over[last]:.3f}")
    return Claim(
        title,
        "an argument",
        f"in {good} of {len(told)} cases" if told else "-",
        by_counts(good, len(told)),
        "φ must be above η and above its own start by more than 0.005; holds if in all cases, partly from half",
        "[Statements](#statements)",
        "Pairs of a class against pairs of two (AUC), by η, φ untrained, φ trained: " + "; ".join(told) if told else "",
    )


def loss_is_learned(evidence: Evidence) -> Claim:
    told, good, total = [], 0, 0
    for record in evidence.theory("learning"):
        share, setting = learning.learned(record), record["setting"]
        good, total = good + (share < 0.5), total + 1
        kind = "with L_aux" if setting["auxiliary"] else "alone"
        told.append(f"{named(setting['data'])} {kind} {100 * share:.1f}%")
    return Claim(
        "φ learns to predict the distances",
        "taken for granted",
        f"L_rdp halves in {good} of {total} trainings" if told else "-",
        by_counts(good, total),
        "holds if it falls below half in all trainings, partly from half of them",
        "[Statements](#statements)",
        "L_rdp at the end, as a share of its first record: " + ", ".join(told) if told else "",
    )

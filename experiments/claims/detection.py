"""Claims about anomaly detection: Tables 1 to 3, appendices A, C, E.1 and F.1."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from experiments import datasets, tables
from experiments.claims.evidence import (
    BOOSTED,
    COMPETITORS,
    DOES_NOT,
    HOLDS,
    LEVEL,
    METRICS,
    NO_DISTANCE,
    NO_NOVELTY,
    OPEN,
    PARTLY,
    Claim,
    Evidence,
    Sizes,
    by_counts,
    n_best,
    named,
    printed,
    see,
    titles,
)
from experiments.show import values_matrix
from experiments.significance import sign_test, win_draw_loss


def best_on_most(evidence: Evidence) -> Claim:
    labels = ("RDP", *COMPETITORS)
    paper, ours, counts, total = [], [], 0, 0
    for metric, title in METRICS.items():
        _, theirs = printed(evidence.panel("detection", metric).paper, labels)
        _, found = evidence.values("detection", metric, labels)
        paper.append(f"{n_best(theirs)} of {len(theirs)} by {title}")
        ours.append(f"{n_best(found)} of {len(found)} by {title}")
        counts, total = counts + n_best(found), total + len(found)
    return Claim(
        "RDP is better than all five competitors on at least 12 of 14 sets (section 4.1.2)",
        f"12; its cells: {', '.join(paper)}",
        ", ".join(ours),
        by_counts(counts, total, enough=12 / 14),
        "level with the best counts, too; holds from 12/14 of the cells, partly from half",
        see("detection"),
    )


def significant(evidence: Evidence) -> Claim:
    fails, n_tests = [], 0
    for metric, title in METRICS.items():
        for rival in COMPETITORS:
            _, values = evidence.values("detection", metric, ("RDP", rival))
            if len(values) == 0:
                continue
            n_tests += 1
            record = win_draw_loss(*values.T)
            if (p := sign_test(record)) >= LEVEL or record.wins < record.losses:
                fails.append(f"{rival} by {title} (p = {p:.2f})")
    return Claim(
        "better than each of the five at the 95% level, two-tailed sign test (section 4.1.2)",
        "all",
        f"{n_tests - len(fails)} of {n_tests} tests",
        by_counts(n_tests - len(fails), n_tests),
        "holds if all, partly from half",
        see("detection"),
        f"Not better at that level than {', '.join(fails)}" if fails else "",
    )


SIX = ("donors", "ad", "bank", "celeba", "lung", "u2r")


def gains_above_a_tenth(evidence: Evidence) -> Claim:
    labels = ("RDP", *COMPETITORS)
    paper, ours, measured = set(), set(), set()
    for metric in METRICS:
        for found, (names, values) in (
            (paper, printed(evidence.panel("detection", metric).paper, labels)),
            (ours, evidence.values("detection", metric, labels)),
        ):
            gains = values[:, 0] > 1.1 * values[:, 1:].max(axis=1) if len(values) else np.array([], dtype=bool)
            found.update(name for name, gain in zip(names, gains, strict=True) if gain)
            if found is ours:
                measured.update(names)
    good = [name for name in SIX if name in ours]
    lost = [name for name in SIX if name in measured - ours]
    return Claim(
        "gains of more than 10% over the best competitor on six sets (section 4.1.2)",
        titles(SIX),
        f"{len(good)} of the six" + (f", not {titles(lost)}" if lost else ""),
        by_counts(len(good), len([name for name in SIX if name in measured])),
        "relative, by AUC-ROC or AUC-PR; holds if all six, partly from three",
        see("detection"),
        f"The paper's cells: {titles(sorted(paper, key=list(datasets.DETECTION).index))}. Ours: "
        f"{titles(sorted(ours, key=list(datasets.DETECTION).index)) or 'none'}",
    )


class _Comparison(NamedTuple):
    """Two columns of the ablation: counts in short, all figures, and by how many metrics the first is really better."""

    counts: str
    figures: str
    n_significant: int


def _against(evidence: Evidence, first: str, second: str) -> _Comparison | None:
    counts, told, wins, sizes = [], [], 0, []
    for metric, title in METRICS.items():
        values, sizes = evidence.like_with_like("ablation_detection", metric, first, second)
        if len(values) == 0:
            return None
        record = win_draw_loss(*values.T)
        p = sign_test(record)
        wins += record.wins > record.losses and p < LEVEL
        counts.append("/".join(map(str, record)))
        gap = float((values[:, 0] - values[:, 1]).mean())
        told.append(f"{counts[-1]} by {title} (p = {p:.2f}, mean {gap:+.3f})")
    in_short = " and ".join(counts) + (" (unequal ensembles)" if any(one != other for one, other in sizes) else "")
    return _Comparison(in_short, f"{first} against {second}: {', '.join(told)}, {_told_sizes(sizes)}", wins)


def _told_sizes(sizes: list[Sizes]) -> str:
    counts = Counter(f"{one}" if one == other else f"{one} against {other}" for one, other in sizes)
    if len(counts) == 1:
        return f"ensembles of {next(iter(counts))}"
    return "ensembles of " + ", ".join(f"{size} on {number}" for size, number in counts.most_common()) + " sets"


def _printed_against(evidence: Evidence, first: str, second: str) -> str:
    told = []
    for metric in METRICS:
        _, values = printed(evidence.panel("ablation_detection", metric).paper, (first, second))
        told.append("/".join(map(str, win_draw_loss(*values.T))))
    return " and ".join(told)


def distance_loss_matters(evidence: Evidence) -> Claim:
    plain, boosted = _against(evidence, "RDP", NO_DISTANCE), _against(evidence, "RDP", BOOSTED)
    ours, verdict, figures = "-", OPEN, ""
    if plain and boosted:
        some = plain.n_significant or boosted.n_significant
        ours, figures = f"{plain.counts}; with boosting kept {boosted.counts}", f"{plain.figures}; {boosted.figures}"
        verdict = HOLDS if boosted.n_significant == len(METRICS) else PARTLY if some else DOES_NOT
    return Claim(
        "L_rdp is essential: without it RDP drops (section 4.1.3)",
        f"{_printed_against(evidence, 'RDP', NO_DISTANCE)}, but boosting goes too",
        ours,
        verdict,
        "holds if significant with boosting kept, by both; partly if only by one or only where boosting goes too",
        see("ablation_detection"),
        figures,
    )


def novelty_loss_matters(evidence: Evidence) -> Claim:
    return _significantly_better(
        evidence, "RDP", NO_NOVELTY, "L_aux is essential, too (section 4.1.3, appendix C)",
        _printed_against(evidence, "RDP", NO_NOVELTY),
    )  # fmt: skip


def _significantly_better(evidence: Evidence, first: str, second: str, claim: str, paper: str) -> Claim:
    found = _against(evidence, first, second)
    return Claim(
        claim,
        paper,
        found.counts if found else "-",
        OPEN if found is None else (DOES_NOT, PARTLY, HOLDS)[found.n_significant],
        "holds if significant by both, partly by one",
        see("ablation_detection"),
        found.figures if found else "",
    )


def boosting_matters_less(evidence: Evidence) -> Claim:
    told, good, total = [], 0, 0
    for metric, title in METRICS.items():
        pairs = [evidence.like_with_like("ablation_detection", metric, "RDP", label)[0]
                 for label in ("RDP\\Boosting", BOOSTED, NO_NOVELTY)]  # fmt: skip
        if not all(map(len, pairs)):
            continue
        drops = [float((pair[:, 0] - pair[:, 1]).mean()) for pair in pairs]
        good, total = good + int(drops[0] < drops[1]) + int(drops[0] < drops[2]), total + 2
        told.append(f"{title}: boosting {drops[0]:.3f}, L_rdp {drops[1]:.3f}, L_aux {drops[2]:.3f}")
    _, theirs = printed(
        evidence.panel("ablation_detection", "auc_roc").paper, ("RDP", "RDP\\Boosting", NO_DISTANCE, NO_NOVELTY)
    )
    drops = (theirs[:, :1] - theirs[:, 1:]).mean(axis=0)
    return Claim(
        "boosting is important, but not as critical as the two losses (appendix C)",
        f"AUC-ROC lost without boosting {drops[0]:.3f}, L_aux {drops[2]:.3f}",
        told[0].replace("AUC-ROC:", "without") if told else "-",
        by_counts(good, total),
        "holds if boosting is worth less than each loss by both metrics, partly in half of the comparisons",
        see("ablation_detection"),
        f"Mean loss without one of them, the others kept: {'; '.join(told)}. The paper's column without L_rdp, which "
        f"lacks boosting as well, loses {drops[1]:.3f}",
    )


def mapping_beats_original(evidence: Evidence) -> Claim:
    claim = "distances of the non-linear mapping teach better than those of the original space (section 4.1.3)"
    paper = f"RDP against Org_SS: {_printed_against(evidence, 'RDP', 'Org_SS')}"
    found = _significantly_better(evidence, NO_NOVELTY, "Org_SS", claim, paper)  # Org_SS learns by distances alone
    return replace(found, ours=f"{NO_NOVELTY} against it: {found.ours}") if found.figures else found


def projection_beats_original(evidence: Evidence) -> Claim:
    claim = "distances of a linear projection teach better than those of the original space (section 4.1.3)"
    return _significantly_better(evidence, "SRP_SS", "Org_SS", claim, _printed_against(evidence, "SRP_SS", "Org_SS"))


def distances_alone(evidence: Evidence) -> Claim:
    names, alone = evidence.values("ablation_detection", "auc_roc", [NO_NOVELTY])
    cells = evidence.cells("detection", "auc_roc")
    good, ours, told = 0, [], []
    for rival in COMPETITORS:
        shared = [(value, cells[name, rival].mean) for name, (value,) in zip(names, alone, strict=True)
                  if cells[name, rival].values]  # fmt: skip
        if shared:
            gap = float(np.mean([a - b for a, b in shared]))
            good += gap >= -0.01
            ours.append(gap)
            told.append(f"{rival} {gap:+.3f}")
    _, theirs = printed(evidence.panel("ablation_detection", "auc_roc").paper, [NO_NOVELTY])
    _, rivals = printed(evidence.panel("detection", "auc_roc").paper, COMPETITORS)
    gaps = (theirs - rivals).mean(axis=0)
    listed = ", ".join(f"{rival} {gap:+.3f}" for rival, gap in zip(COMPETITORS, gaps, strict=True))
    return Claim(
        "L_rdp alone is better than, or comparable to, the five competitors (section 4.1.3)",
        f"mean AUC-ROC minus theirs: {gaps.min():+.3f} to {gaps.max():+.3f}",
        f"{min(ours):+.3f} to {max(ours):+.3f}" if ours else "-",
        by_counts(good, len(told)),
        "holds if at most 0.01 below each, partly if so for half of them",
        see("ablation_detection", "detection"),
        f"Mean AUC-ROC of {NO_NOVELTY} minus that of {', '.join(told)}. The paper's: {listed}",
    )


def runtime(evidence: Evidence) -> Claim:
    labels, metric = ("RDP", *COMPETITORS), "apply_cpu_seconds"
    theirs_names, theirs = printed(evidence.panel("runtime_detection", metric).paper, labels)
    names, ours = values_matrix(
        tables.table("runtime_detection"), evidence.cells("runtime_detection", metric), list(labels)
    )
    their_ratio = float(np.median(theirs[:, 0] / theirs[:, 1:].min(axis=1)))
    paper, place = f"{their_ratio:.1f} times the fastest of five", see("runtime_detection")
    if not names:
        return Claim(_RUNTIME, paper, "-", OPEN, _RUNTIME_RULE, place)
    ratio = float(np.median(ours[:, 0] / ours[:, 1:].min(axis=1)))
    return Claim(
        _RUNTIME,
        paper,
        f"{ratio:.1f} times",
        HOLDS if ratio <= 2 else PARTLY if ratio <= 2 * their_ratio else DOES_NOT,
        _RUNTIME_RULE,
        place,
        f"Processor time, {len(names)} sets: {_times(names, ours)}. The paper's: {_times(theirs_names, theirs)}",
    )


_RUNTIME = "scoring takes about as long as the fastest, REPEN and DAGMM five times as long (appendix F.1)"
_RUNTIME_RULE = "the fastest counts, median over sets: holds up to twice its time, partly up to twice the paper's ratio"


def _times(names: list[str], seconds: np.ndarray) -> str:
    """Tell what REPEN and DAGMM take as multiples of RDP's seconds (first column), on the sets that the paper names."""
    place = COMPETITORS.index
    told = []
    for name in ("donors", "census"):
        if name in names:
            row = seconds[names.index(name)]
            times = " and ".join(f"{row[1 + place(rival)] / row[0]:.1f}" for rival in ("REPEN", "DAGMM"))
            told.append(f"on {named(name)} REPEN and DAGMM take {times} times as long")
    return ", ".join(told)


def dimension(evidence: Evidence) -> Claim:
    cells = evidence.cells("sensitivity_detection", "auc_roc")
    ranges, n_members = {}, {}
    for data in tables.table("sensitivity_detection").data:
        own = [cells[data, size] for size in ("25", "50", "100", "200") if cells[data, size].values]
        if not own:
            continue
        least = min(cell.n_members or 0 for cell in own)  # like with like: those of 50 components have more
        means = [cell.mean for cell in own if cell.n_members == least]
        if len(means) >= 3:
            ranges[data], n_members[data] = round(max(means) - min(means), 3), least
    steady = [data for data, width in ranges.items() if width <= 0.04]
    others = [f"{named(data)} {width:.3f}" for data, width in ranges.items() if width > 0.04]
    counts = Counter(n_members.values())
    sizes = " and ".join(f"{size} on {counts[size]}" for size in sorted(counts, reverse=True))
    return Claim(
        "in detection the dimension of the representation hardly matters (appendix E.1)",
        "a figure without numbers",
        f"AUC-ROC within 0.04 on {len(steady)} of {len(ranges)} sets" if ranges else "-",
        by_counts(len(steady), len(ranges), enough=0.75),
        "from 25 to 200 components; holds from three quarters of the sets, partly from half",
        see("sensitivity_detection"),
        f"AUC-ROC moves by more on {', '.join(others) or 'no set'}; members: {sizes} sets" if ranges else "",
    )

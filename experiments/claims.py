"""The paper's claims, one a row: what it prints, what we find, and a verdict by a rule that is stated.

A claim is a function of the evidence (the result lines). It counts and compares means over runs, rounded as tables
print them; the verdict follows from the counts by the rule that stands beside it. The rules were written after most
results had been seen, so that a verdict is a summary of the tables, not a test that could have failed unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments import datasets, tables
from experiments.show import values_matrix
from experiments.significance import sign_test, win_draw_loss
from experiments.summary import Grid, grid
from experiments.tables.layout import Panel, PaperTable
from experiments.theory import bounds, class_structure, learning
from experiments.theory import command as theory_command

HOLDS, PARTLY, DOES_NOT, OPEN = "holds", "partly", "does not", "not run"
COMPETITORS = ("iForest", "AE", "REPEN", "DAGMM", "RND")
METRICS = {"auc_roc": "AUC-ROC", "auc_pr": "AUC-PR"}
NO_DISTANCE, NO_NOVELTY, BOOSTED = "RDP\\L_rdp", "RDP\\L_aux", "RDP\\L_rdp boosted"
LEVEL = 0.05  # of significance, as the paper has it


@dataclass(frozen=True)
class Claim:
    """One row of the table of claims."""

    claim: str
    paper: str
    ours: str
    verdict: str
    rule: str
    see: str


class Evidence:
    """All result lines, and the cells of any table made of them."""

    def __init__(self, records: Iterable[dict[str, Any]], theory_folder: Path = theory_command.FOLDER) -> None:
        self.records = list(records)
        self.theory_folder = theory_folder
        self._grids: dict[tuple[str, str], Grid] = {}

    def panel(self, table: str, metric: str) -> Panel:
        return next(panel for panel in tables.table(table).panels if panel.metric == metric)

    def cells(self, table: str, metric: str) -> Grid:
        key = table, metric
        if key not in self._grids:
            self._grids[key] = grid(
                tables.table(table), self.panel(table, metric), self.records, quick=False, no_data=set()
            )
        return self._grids[key]

    def values(self, table: str, metric: str, labels: Iterable[str]) -> tuple[list[str], np.ndarray]:
        """Give the sets on which all columns have results, and the means (n_sets, n_columns)."""
        names, values = values_matrix(tables.table(table), self.cells(table, metric), list(labels))
        return names, np.round(values, 3)

    def theory(self, name: str) -> list[dict[str, Any]]:
        return list(theory_command.read(name, self.theory_folder))


def printed(paper: PaperTable, labels: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """Give the paper's sets and means (n_sets, n_columns), where it prints all columns."""
    labels = list(labels)
    names = [name for name, row in paper.items() if all(label in row for label in labels)]
    return names, np.array([[paper[name][label].mean for label in labels] for name in names])


def by_counts(good: int, of: int, *, enough: float = 1.0, some: float = 0.5) -> str:
    """Give the verdict by a share: at least `enough`, at least `some`, or less."""
    if of == 0:
        return OPEN
    return HOLDS if good >= enough * of else PARTLY if good >= some * of and good > 0 else DOES_NOT


def _best(values: np.ndarray) -> int:
    """Count the rows in which the first column is at least level with all others."""
    return int((values[:, 0] >= values[:, 1:].max(axis=1)).sum()) if len(values) else 0


# --- anomaly detection ---


def best_on_most(evidence: Evidence) -> Claim:
    labels = ("RDP", *COMPETITORS)
    paper, ours, counts, total = [], [], 0, 0
    for metric, title in METRICS.items():
        _, theirs = printed(evidence.panel("detection", metric).paper, labels)
        _, found = evidence.values("detection", metric, labels)
        paper.append(f"{_best(theirs)} of {len(theirs)} by {title}")
        ours.append(f"{_best(found)} of {len(found)} by {title}")
        counts, total = counts + _best(found), total + len(found)
    return Claim(
        "RDP outperforms all five competitors on at least 12 of 14 sets (section 4.1.2)",
        f"says 12; its cells: best or level on {', '.join(paper)}",
        f"best or level on {', '.join(ours)}",
        by_counts(counts, total, enough=12 / 14),
        "holds from 12/14 of the cells, partly from half",
        "Table `detection`",
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
        "better than each of the five at the 95 % level, two-tailed sign test (section 4.1.2)",
        "all",
        f"{n_tests - len(fails)} of {n_tests} tests" + (f"; not {', '.join(fails)}" if fails else ""),
        by_counts(n_tests - len(fails), n_tests),
        "holds if all, partly from half",
        "notes under table `detection`",
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
    return Claim(
        "gains of more than 10 % over the best competitor on six sets (section 4.1.2)",
        f"names {_titles(SIX)}; its cells: {_titles(sorted(paper, key=list(datasets.DETECTION).index))}",
        f"{len(good)} of the six: {_titles(good) or 'none'}"
        + (f"; besides: {_titles(sorted(ours - set(SIX)))}" if ours - set(SIX) else ""),
        by_counts(len(good), len([name for name in SIX if name in measured])),
        "relative, by AUC-ROC or AUC-PR; holds if all six, partly from three",
        "Table `detection`",
    )


def _against(evidence: Evidence, first: str, second: str, table: str = "ablation_detection") -> tuple[str, int, float]:
    """Tell how two columns compare; count significant wins of the first, and give the mean difference by AUC-ROC."""
    told, wins, mean = [], 0, 0.0
    for metric, title in METRICS.items():
        _, values = evidence.values(table, metric, (first, second))
        if len(values) == 0:
            return "", 0, 0.0
        record = win_draw_loss(*values.T)
        p = sign_test(record)
        wins += record.wins > record.losses and p < LEVEL
        gap = float((values[:, 0] - values[:, 1]).mean())
        mean = gap if metric == "auc_roc" else mean
        told.append(f"{record.wins}/{record.draws}/{record.losses} by {title} (p = {p:.2f}, mean {gap:+.3f})")
    return ", ".join(told), wins, mean


def _printed_against(evidence: Evidence, first: str, second: str) -> str:
    told = []
    for metric, title in METRICS.items():
        _, values = printed(evidence.panel("ablation_detection", metric).paper, (first, second))
        told.append("/".join(map(str, win_draw_loss(*values.T))) + f" by {title}")
    return ", ".join(told)


def _members(evidence: Evidence, *labels: str) -> str:
    cells = evidence.cells("ablation_detection", "auc_roc")
    sizes = {
        label: sorted({cell.n_members for (_, column), cell in cells.items() if column == label and cell.n_members})
        for label in labels
    }
    told = {label: "-".join(map(str, found[:: max(1, len(found) - 1)])) for label, found in sizes.items() if found}
    return f"; members: {', '.join(f'{label} {n}' for label, n in told.items())}" if len(set(told.values())) > 1 else ""


def distance_loss_matters(evidence: Evidence) -> Claim:
    plain, plain_wins, _ = _against(evidence, "RDP", NO_DISTANCE)
    boosted, boosted_wins, _ = _against(evidence, "RDP", BOOSTED)
    verdict = OPEN if not boosted else HOLDS if boosted_wins == 2 else PARTLY if plain_wins + boosted_wins else DOES_NOT
    return Claim(
        "L_rdp is essential: without it RDP drops (section 4.1.3)",
        f"RDP against {NO_DISTANCE}, which lacks boosting too: {_printed_against(evidence, 'RDP', NO_DISTANCE)}",
        f"as the paper has it: {plain}; with boosting kept: {boosted}{_members(evidence, 'RDP', BOOSTED)}",
        verdict,
        "holds if significant with boosting kept, by both; partly if only by one or only where boosting goes too",
        "Table `ablation_detection`",
    )


def novelty_loss_matters(evidence: Evidence) -> Claim:
    told, wins, _ = _against(evidence, "RDP", NO_NOVELTY)
    return Claim(
        "L_aux is essential, too (section 4.1.3, appendix C)",
        _printed_against(evidence, "RDP", NO_NOVELTY),
        f"{told}{_members(evidence, 'RDP', NO_NOVELTY)}",
        OPEN if not told else (DOES_NOT, PARTLY, HOLDS)[wins],
        "holds if significant by both, partly by one",
        "Table `ablation_detection`",
    )


def boosting_matters_less(evidence: Evidence) -> Claim:
    labels = ("RDP", "RDP\\Boosting", BOOSTED, NO_NOVELTY)
    told, good, total = [], 0, 0
    for metric, title in METRICS.items():
        _, values = evidence.values("ablation_detection", metric, labels)
        if len(values) == 0:
            continue
        drops = (values[:, :1] - values[:, 1:]).mean(axis=0)
        good, total = good + int(drops[0] < drops[1]) + int(drops[0] < drops[2]), total + 2
        told.append(f"{title}: boosting {drops[0]:.3f}, L_rdp {drops[1]:.3f}, L_aux {drops[2]:.3f}")
    _, theirs = printed(
        evidence.panel("ablation_detection", "auc_roc").paper, ("RDP", "RDP\\Boosting", NO_DISTANCE, NO_NOVELTY)
    )
    drops = (theirs[:, :1] - theirs[:, 1:]).mean(axis=0)
    return Claim(
        "boosting is important, but not as critical as the two losses (appendix C)",
        f"mean loss of AUC-ROC without boosting {drops[0]:.3f}, both it and L_rdp {drops[1]:.3f}, L_aux {drops[2]:.3f}",
        f"mean loss without one of them, the others kept: {'; '.join(told)}",
        by_counts(good, total),
        "holds if boosting is worth less than each loss by both metrics, partly in half of the comparisons",
        "Table `ablation_detection`",
    )


def projection_beats_original(evidence: Evidence) -> Claim:
    told, wins, _ = _against(evidence, "SRP_SS", "Org_SS")
    return Claim(
        "distances of a linear projection teach better than those of the original space (section 4.1.3)",
        f"SRP_SS against Org_SS: {_printed_against(evidence, 'SRP_SS', 'Org_SS')}",
        told,
        OPEN if not told else (DOES_NOT, PARTLY, HOLDS)[wins],
        "holds if significant by both, partly by one",
        "Table `ablation_detection`",
    )


def distances_alone(evidence: Evidence) -> Claim:
    names, alone = evidence.values("ablation_detection", "auc_roc", [NO_NOVELTY])
    cells = evidence.cells("detection", "auc_roc")
    good, told = 0, []
    for rival in COMPETITORS:
        shared = [(value, cells[name, rival].mean) for name, (value,) in zip(names, alone, strict=True)
                  if cells[name, rival].values]  # fmt: skip
        if shared:
            gap = float(np.mean([a - b for a, b in shared]))
            good += gap >= -0.01
            told.append(f"{rival} {gap:+.3f}")
    _, theirs = printed(evidence.panel("ablation_detection", "auc_roc").paper, [NO_NOVELTY])
    _, rivals = printed(evidence.panel("detection", "auc_roc").paper, COMPETITORS)
    gaps = ", ".join(
        f"{rival} {gap:+.3f}" for rival, gap in zip(COMPETITORS, (theirs - rivals).mean(axis=0), strict=True)
    )
    return Claim(
        "L_rdp alone is better than, or comparable to, the five competitors (section 4.1.3)",
        f"mean AUC-ROC of RDP\\L_aux minus {gaps}",
        f"minus {', '.join(told)}",
        by_counts(good, len(told)),
        "holds if at most 0.01 below each, partly below half",
        "Tables `ablation_detection`, `detection`",
    )


# --- clustering and beyond ---

CLUSTERING_RIVALS = ("Org", "HLLE", "SRP", "AE", "COP")
CLUSTERING_METRICS = {"mapped_nmi": "NMI", "f_score": "F-score"}


def clustering_best(evidence: Evidence) -> Claim:
    good, total, told = 0, 0, []
    for data in ("r8_clustering", "20news"):
        for metric, title in CLUSTERING_METRICS.items():
            cells = evidence.cells("clustering", metric)
            if not cells[data, "RDP"].values:
                continue
            rivals = {label: cells[data, label].mean for label in CLUSTERING_RIVALS if cells[data, label].values}
            first = max(rivals, key=rivals.__getitem__)
            ours = cells[data, "RDP"].mean
            wins = round(ours, 3) >= round(rivals[first], 3)
            good, total = good + wins, total + 1
            told.append(f"{datasets.title(data)} {title} {ours:.3f}, {first} {rivals[first]:.3f}")
    return Claim(
        "clustering is best on R8, 20news and RCV1 (section 4.2.2)",
        "best in all six cells",
        f"best in {good} of {total} (RCV1 cannot be had): {'; '.join(told)}",
        by_counts(good, total),
        "holds if all, partly from half",
        "Table `clustering`",
    )


def clustering_consistent(evidence: Evidence) -> Claim:
    good, total, theirs = 0, 0, 0
    told = []
    for rival in ("SRP", "AE", "COP"):
        wins = cells_there = 0
        for metric in CLUSTERING_METRICS:
            _, values = evidence.values("clustering", metric, ("RDP", rival))
            wins += int((values[:, 0] > values[:, 1]).sum()) if len(values) else 0
            cells_there += len(values)
            _, paper = printed(evidence.panel("clustering", metric).paper, ("RDP", rival))
            theirs += int((paper[:, 0] > paper[:, 1]).sum())
        good, total = good + wins, total + cells_there
        told.append(f"{rival} {wins} of {cells_there}")
    return Claim(
        "clustering is consistently better than with AE, SRP and COP (section 4.2.2)",
        f"{theirs} of 28 cells",
        f"better than {', '.join(told)}",
        by_counts(good, total),
        "holds if in all cells, partly from half",
        "Table `clustering`",
    )


def clustering_losses(evidence: Evidence) -> Claim:
    labels = ("RDP", NO_DISTANCE, NO_NOVELTY)
    names, values = evidence.values("ablation_clustering", "f_score", labels)
    paper_names, paper = printed(evidence.panel("ablation_clustering", "f_score").paper, labels)
    paper = paper[[paper_names.index(name) for name in names if name in paper_names]]
    drops = values[:, :1] - values[:, 1:] if len(values) else np.empty((0, 2))
    good = int((drops[:, 0] > drops[:, 1]).sum())
    return Claim(
        "in clustering L_rdp matters more than reconstruction (section 4.2.3)",
        f"F-score falls more without L_rdp on {int((paper[:, 1] < paper[:, 2]).sum())} of these sets",
        f"on {good} of {len(drops)}: "
        + ", ".join(f"{datasets.title(n)} {a:+.3f} and {b:+.3f}" for n, (a, b) in zip(names, -drops, strict=True)),
        by_counts(good, len(drops)),
        "holds if on all sets, partly from half; change without L_rdp, without L_aux",
        "Table `ablation_clustering`",
    )


def on_top(evidence: Evidence, table: str, below: Iterable[str], title: str, paper: str) -> Claim:
    good = total = 0
    told = []
    data = tables.table(table).data
    for metric, name in CLUSTERING_METRICS.items():
        cells = evidence.cells(table, metric)
        for label in below:
            for one in data:
                alone, on = cells[one, label], cells[one, f"{label}+RDP"]
                if alone.values and on.values:
                    wins = round(on.mean, 3) > round(alone.mean, 3)
                    good, total = good + wins, total + 1
                    what = label if len(data) == 1 else f"{datasets.title(one)}"
                    told.append(f"{what} {name} {on.mean - alone.mean:+.3f}")
    missing = [datasets.title(one) for one in data if not any(
        evidence.cells(table, "mapped_nmi")[one, f"{label}+RDP"].values for label in below)]  # fmt: skip
    return Claim(
        title,
        paper,
        f"better in {good} of {total} cells: {', '.join(told)}"
        + (f"; not run: {', '.join(missing)}" if missing else ""),
        by_counts(good, total),
        "holds if in all cells that were run, partly from half",
        f"Table `{table}`",
    )


def on_doc2vec(evidence: Evidence) -> Claim:
    gaps = []
    for metric, name in CLUSTERING_METRICS.items():
        for data, row in evidence.panel("raw_text", metric).paper.items():
            gaps.append(f"{datasets.title(data)} {name} {row['Doc2Vec+RDP'].mean - row['Doc2Vec'].mean:+.3f}")
    paper = ", ".join(gaps)
    return on_top(
        evidence, "raw_text", ("Doc2Vec",), "RDP on top of Doc2Vec is better than Doc2Vec (appendix G.1)", paper
    )


def on_rotnet(evidence: Evidence) -> Claim:
    forms = ("RotNet", "RotNet4x2", "RotNet4x1", "RotNet3x1", "RotNet2x1")
    wins = sum(
        row[f"{form}+RDP"].mean > row[form].mean
        for metric in CLUSTERING_METRICS
        for row in evidence.panel("raw_images", metric).paper.values()
        for form in forms
    )
    title = "RDP on top of RotNet is better than RotNet, all five forms (appendix G.2)"
    return on_top(evidence, "raw_images", forms, title, f"{wins} of 10 cells")


def classification(evidence: Evidence) -> Claim:
    labels = ("HLLE", "SRP", "AE", "COP")
    cells = evidence.cells("classification", "f_score")
    good, told = 0, []
    for data in tables.table("classification").data:
        rivals = {label: cells[data, label].mean for label in labels if cells[data, label].values}
        mine = {label: cells[data, label].mean for label in ("RDP", NO_NOVELTY) if cells[data, label].values}
        if rivals and mine:
            first, own = max(rivals, key=rivals.__getitem__), max(mine, key=mine.__getitem__)
            good += round(mine[own], 3) >= round(rivals[first], 3)
            told.append(f"{datasets.title(data)} {own} {mine[own]:.3f}, {first} {rivals[first]:.3f}")
    return Claim(
        "in classification RDP's features, with or without L_aux, are best (appendix H)",
        "on 5 of 5 sets",
        f"on {good} of {len(told)}: {'; '.join(told)}",
        by_counts(good, len(told)),
        "holds if on all, partly from half",
        "Table `classification`",
    )


def runtime(evidence: Evidence) -> Claim:
    cells = evidence.cells("runtime_detection", "apply_seconds")
    _, theirs = printed(evidence.panel("runtime_detection", "apply_seconds").paper, ("RDP", *COMPETITORS))
    ratio = float(np.median(theirs[:, 0] / theirs[:, 1:].min(axis=1)))
    ratios = []
    for data in tables.table("runtime_detection").data:
        seconds = {
            label: cells[data, label].mean / (cells[data, label].n_members or 1)
            for label in ("RDP", "AE", "REPEN", "DAGMM", "RND")
            if cells[data, label].values
        }
        if len(seconds) == 5:
            ratios.append(seconds.pop("RDP") / max(min(seconds.values()), 1e-4))
    ours = float(np.median(ratios)) if ratios else float("nan")
    return Claim(
        "scoring takes about as long as with the most efficient competitors (appendix F)",
        f"median over sets: {ratio:.1f} times the fastest of the five",
        f"a member of RDP: {ours:.1f} times a member of the fastest other ensemble, on a machine with other work",
        OPEN if not ratios else HOLDS if ours <= 2 else PARTLY if ours <= 2 * ratio else DOES_NOT,
        "holds up to twice the fastest, partly up to twice the paper's ratio; by member, as ensembles differ in size",
        "Table `runtime_detection`",
    )


def dimension(evidence: Evidence) -> Claim:
    cells = evidence.cells("sensitivity_detection", "auc_roc")
    ranges = {}
    found = [cell.n_members for (_, size), cell in cells.items() if cell.values and size != "10"]
    members = max(set(found), key=found.count) if found else 0  # ensembles of one size: those of 50 numbers are larger
    for data in tables.table("sensitivity_detection").data:
        own = {size: cells[data, size] for size in ("25", "50", "100", "200") if cells[data, size].values}
        means = [cell.mean for cell in own.values() if cell.n_members == members]
        if len(means) >= 3:
            ranges[data] = max(means) - min(means)
    steady = [data for data, width in ranges.items() if width <= 0.04]
    others = [f"{datasets.title(data)} {width:.3f}" for data, width in ranges.items() if width > 0.04]
    return Claim(
        "the dimension of the representation hardly matters (appendix E)",
        "a figure without numbers",
        f"AUC-ROC within 0.04 from 25 to 200 numbers, {members} members each, on {len(steady)} of {len(ranges)} sets"
        + (f"; not {', '.join(others)}" if others else ""),
        by_counts(len(steady), len(ranges), enough=0.75),
        "holds from three quarters of the sets, partly from half",
        "Table `sensitivity_detection`",
    )


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
        "; ".join(told) or "-",
        by_counts(good, total, enough=0.75),
        "short trainings on some sets; holds from three quarters of the comparisons, partly from half",
        "Tables `depth_detection`, `depth_clustering`",
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
        f"share beyond ε at or below the bound in {within} of {total} settings",
        by_counts(within, total),
        "holds if in all settings, partly from half",
        "[Statements](#statements)",
    )


def kernel_unbiased(evidence: Evidence) -> Claim:
    shares = [record["measured"]["pairs_beyond_two_standard_errors"] for record in evidence.theory("kernel")]
    return Claim(
        "inner products of Fourier features estimate the kernel without bias (section 3.2, equation 8)",
        "a theorem",
        f"{100 * np.mean(shares):.1f} % of pairs are more than two standard errors off, where 5 % are expected"
        if shares
        else "-",
        OPEN if not shares else HOLDS if np.mean(shares) <= 0.08 else DOES_NOT,
        "holds up to 8 %",
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
        evidence, lambda noise: noise > 0, "and mends what is wrong in corrupted distances (section 3.3)"
    )  # fmt: skip


def _classes(evidence: Evidence, wanted: Callable[[float], bool], title: str) -> Claim:
    records = evidence.theory("class_structure")
    kinds = sorted({(r["setting"]["data"], r["setting"]["noise"]) for r in records if wanted(r["setting"]["noise"])})
    good, told = 0, []
    for data, noise in kinds:
        over = class_structure.means(records, data, noise)
        start, last = min(step for step in over if step > 0), max(over)
        good += over[last] > max(over[0], over[start]) + 0.005
        what = f"{data.removeprefix('sklearn/')}{f', noise {noise:g}' if noise else ''}"
        told.append(f"{what}: η {over[0]:.3f}, φ untrained {over[start]:.3f}, trained {over[last]:.3f}")
    return Claim(
        title,
        "an argument",
        "pairs of a class against pairs of two (AUC): " + "; ".join(told) if told else "-",
        by_counts(good, len(told)),
        "holds if φ is above η and above its own start by more than 0.005 everywhere, partly from half",
        "[Statements](#statements)",
    )


def loss_is_learned(evidence: Evidence) -> Claim:
    told, good, total = [], 0, 0
    for record in evidence.theory("learning"):
        share, setting = learning.learned(record), record["setting"]
        good, total = good + (share < 0.5), total + 1
        kind = "with L_aux" if setting["auxiliary"] else "alone"
        told.append(f"{datasets.title(setting['data']).removeprefix('sklearn/')} {kind} {100 * share:.1f} %")
    return Claim(
        "φ learns to predict the distances",
        "taken for granted",
        "L_rdp at the end, as a share of its first record: " + ", ".join(told) if told else "-",
        by_counts(good, total),
        "holds if it falls below half everywhere, partly from half of the settings",
        "[Statements](#statements)",
    )


CLAIMS: tuple[Callable[[Evidence], Claim], ...] = (
    best_on_most, significant, gains_above_a_tenth, distance_loss_matters, novelty_loss_matters, boosting_matters_less,
    projection_beats_original, distances_alone, clustering_best, clustering_consistent, clustering_losses, on_doc2vec,
    on_rotnet, runtime, dimension, classification, deeper, projections_keep, kernel_unbiased, learns_classes,
    mends_distances, loss_is_learned,
)  # fmt: skip


def judged(records: Iterable[dict[str, Any]], theory_folder: Path = theory_command.FOLDER) -> list[Claim]:
    """Judge all claims."""
    evidence = Evidence(records, theory_folder)
    return [claim(evidence) for claim in CLAIMS]


def as_markdown(claims: Iterable[Claim]) -> str:
    """Print the table of claims."""
    rows = ["| the paper's claim | paper | ours | verdict | rule | see |", "|---|---|---|---|---|---|"]
    for claim in claims:
        cells = (claim.claim, claim.paper, claim.ours, f"**{claim.verdict}**", claim.rule, claim.see)
        rows.append("| " + " | ".join(cell.replace("\\", "\\\\") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _titles(names: Iterable[str]) -> str:
    return ", ".join(map(datasets.title, names))

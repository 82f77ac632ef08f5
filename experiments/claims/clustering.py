"""Claims about clustering and classification: Tables 4 and 5, appendices D, E.2, F.2, G and H."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from experiments import datasets, tables
from experiments.claims.evidence import (
    DOES_NOT,
    HOLDS,
    NO_DISTANCE,
    NO_NOVELTY,
    OPEN,
    PARTLY,
    Claim,
    Evidence,
    by_counts,
    named,
    printed,
    see,
)
from experiments.show import values_matrix

CLUSTERING_RIVALS = ("Org", "HLLE", "SRP", "AE", "COP")
CLUSTERING_METRICS = {"mapped_nmi": "NMI", "f_score": "F-score"}
ROTNETS = ("RotNet", "RotNet4x2", "RotNet4x1", "RotNet3x1", "RotNet2x1")


def best_on_text(evidence: Evidence) -> Claim:
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
            told.append(f"{named(data)} {title} {ours:.3f}, {first} {rivals[first]:.3f}")
    return Claim(
        "clustering is best on R8, 20news and RCV1 (section 4.2.2)",
        "best in all six cells",
        f"best or level in {good} of {total} (RCV1 cannot be had): {'; '.join(told)}",
        by_counts(good, total),
        "holds if all, partly from half",
        see("clustering"),
    )


def consistent(evidence: Evidence) -> Claim:
    good = total = theirs = their_cells = 0
    told = []
    for rival in ("SRP", "AE", "COP"):
        wins = cells_there = 0
        for metric in CLUSTERING_METRICS:
            _, values = evidence.values("clustering", metric, ("RDP", rival))
            wins += int((values[:, 0] > values[:, 1]).sum()) if len(values) else 0
            cells_there += len(values)
            _, paper = printed(evidence.panel("clustering", metric).paper, ("RDP", rival))
            theirs, their_cells = theirs + int((paper[:, 0] > paper[:, 1]).sum()), their_cells + len(paper)
        good, total = good + wins, total + cells_there
        told.append(f"{rival} {wins} of {cells_there}")
    return Claim(
        "clustering is consistently better than with AE, SRP and COP (section 4.2.2)",
        f"{theirs} of {their_cells} cells",
        f"better than {', '.join(told)}{_with_a_part(evidence)}",
        by_counts(good, total),
        "holds if in all cells, partly from half",
        see("clustering"),
    )


def losses(evidence: Evidence) -> Claim:
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
        + ", ".join(f"{named(n)} {a:+.3f} and {b:+.3f}" for n, (a, b) in zip(names, -drops, strict=True)),
        by_counts(good, len(drops)),
        "holds if on all sets, partly from half; change without L_rdp, without L_aux",
        see("ablation_clustering"),
    )


def distances_suffice(evidence: Evidence) -> Claim:
    """RDP by distances alone against the whole: at most 0.02 lower is close."""
    good, total, told, theirs = 0, 0, [], []
    for metric, title in CLUSTERING_METRICS.items():
        names, values = evidence.values("ablation_clustering", metric, ("RDP", NO_NOVELTY))
        gaps = values[:, 1] - values[:, 0] if len(values) else np.empty(0)
        good, total = good + int((gaps >= -0.02).sum()), total + len(gaps)
        told += [f"{named(name)} {title} {gap:+.3f}" for name, gap in zip(names, gaps, strict=True)]
        _, paper = printed(evidence.panel("ablation_clustering", metric).paper, ("RDP", NO_NOVELTY))
        their_gaps = paper[:, 1] - paper[:, 0]
        theirs.append(f"by {title} {their_gaps.min():+.3f} to {their_gaps.max():+.3f}")
    return Claim(
        "in clustering L_rdp alone does about as well as with reconstruction (section 4.2.3, appendix D)",
        f"without L_aux, over its sets: {', '.join(theirs)}",
        f"without L_aux: {', '.join(told)}" if told else "-",
        by_counts(good, total),
        "holds if at most 0.02 below in all cells, partly from half",
        see("ablation_clustering"),
    )


def sources(evidence: Evidence) -> Claim:
    names, values = evidence.values("ablation_clustering", "f_score", ("RDP", "Org_SS", "SRP_SS"))
    paper = evidence.panel("ablation_clustering", "f_score").paper["olivetti"]
    gaps = np.round(values[names.index("olivetti"), :1] - values[names.index("olivetti"), 1:], 3) if names else []
    return Claim(
        "in clustering, distances of the non-linear mapping are much more effective on Olivetti and RCV1 than those of "
        "the original space or of a sparse projection (section 4.2.3)",
        f"F-score on Olivetti {paper['RDP'].mean - paper['Org_SS'].mean:+.3f} and "
        f"{paper['RDP'].mean - paper['SRP_SS'].mean:+.3f}",
        f"F-score on Olivetti {gaps[0]:+.3f} and {gaps[1]:+.3f} (RCV1 cannot be had)" if len(gaps) else "-",
        by_counts(sum(gap > 0.01 for gap in gaps), len(gaps)),
        "holds if more than 0.01 above both, partly above one",
        see("ablation_clustering"),
    )


def better_than_raw(evidence: Evidence) -> Claim:
    """RDP on word counts and pixels against what reads texts and images themselves."""
    good, total, told, theirs, their_cells = 0, 0, [], 0, 0
    for metric, title in CLUSTERING_METRICS.items():
        for table, rivals in (("raw_text", ("Doc2Vec",)), ("raw_images", ROTNETS)):
            for rival in rivals:
                names, values = evidence.values(table, metric, ("RDP", rival))
                wins = values[:, 0] > values[:, 1] if len(values) else np.empty(0, dtype=bool)
                good, total = good + int(wins.sum()), total + len(wins)
                told += [f"{named(name)} {title} {rival} {gap:+.3f}"
                         for name, gap in zip(names, values[:, 0] - values[:, 1] if len(values) else (), strict=True)
                         if gap <= 0]  # fmt: skip
                _, paper = printed(evidence.panel(table, metric).paper, ("RDP", rival))
                theirs, their_cells = theirs + int((paper[:, 0] > paper[:, 1]).sum()), their_cells + len(paper)
    return Claim(
        "RDP on word counts and on pixels is better than Doc2Vec and than RotNet, all five forms (appendix G)",
        f"in {theirs} of {their_cells} cells",
        f"in {good} of {total} cells" + (f"; not {', '.join(told)}" if told else ""),
        by_counts(good, total),
        "holds if in all cells that were run, partly from half",
        see("raw_text", "raw_images"),
    )


def runtime(evidence: Evidence) -> Claim:
    metric, table = "apply_cpu_seconds", tables.table("runtime_clustering")
    paper = evidence.panel(table.name, metric).paper
    _, theirs = printed(paper, ("RDP", "SRP", "AE"))
    _, hlle = printed(paper, ("HLLE", "RDP"))
    cells = evidence.cells(table.name, metric)
    names, ours = values_matrix(table, cells, ["RDP", "SRP", "AE"])
    both, slow = values_matrix(table, cells, ["HLLE", "RDP"])
    their_ratio, their_orders = np.median(theirs[:, 0] / theirs[:, 1:].min(axis=1)), np.log10(hlle[:, 0] / hlle[:, 1])
    ratio = np.median(ours[:, 0] / ours[:, 1:].min(axis=1)) if names else np.nan
    orders = np.log10(slow[:, 0] / slow[:, 1]) if both else np.array([np.nan])
    return Claim(
        "features take about as long as with SRP and AE, and five orders of magnitude less than with HLLE "
        "(appendix F.2)",
        f"median over sets: {their_ratio:.1f} times the faster of SRP and AE; HLLE takes "
        f"{10 ** their_orders.min():,.0f} to {10 ** their_orders.max():,.0f} times as long: four orders, not five",
        f"median over {len(names)} sets: {ratio:.1f} times the faster of SRP and AE; HLLE takes "
        f"{10 ** orders.min():,.0f} to {10 ** orders.max():,.0f} times as long; processor time"
        if names
        else "-",
        OPEN if not names else PARTLY if ratio <= 2 and orders.min() < 4.5 else HOLDS if ratio <= 2 else DOES_NOT,
        "holds up to twice the faster and from 4.5 orders of magnitude below HLLE, partly if only the first",
        see("runtime_clustering"),
    )


def dimension(evidence: Evidence) -> Claim:
    sizes = ("512", "768", "1024", "1280")
    good, total, told = 0, 0, []
    for metric, title in CLUSTERING_METRICS.items():
        names, values = evidence.values("sensitivity_clustering", metric, sizes)
        for name, row in zip(names, values, strict=True):
            width = row.max() - row.min()
            good, total = good + int(width <= 0.04), total + 1
            told.append(f"{named(name)} {title} {width:.3f}")
    return Claim(
        "in clustering the dimension of the representation hardly matters (appendix E.2)",
        "a figure without numbers",
        f"from 512 to 1,280 components within: {', '.join(told)}" if told else "-",
        by_counts(good, total, enough=0.75),
        "holds if within 0.04 in three quarters of the cells, partly from half",
        see("sensitivity_clustering"),
    )


def _with_a_part(evidence: Evidence) -> str:
    there = evidence.cells("clustering", "f_score")[datasets.SECTOR_PART.name, "RDP"].values
    return "; a fifth of Sector is one of the sets" if there else ""


def on_top(evidence: Evidence, table: str, below: Iterable[str], title: str, paper: str) -> Claim:
    gains, missing = {}, []
    data = tables.table(table).data
    for metric, name in CLUSTERING_METRICS.items():
        cells = evidence.cells(table, metric)
        for label in below:
            for one in data:
                alone, on = cells[one, label], cells[one, f"{label}+RDP"]
                what = f"{label if len(data) == 1 else named(one)} {name}"
                if alone.values and on.values:
                    gains[what] = round(round(on.mean, 3) - round(alone.mean, 3), 3)
                else:
                    missing.append(what)
    good, told = sum(gain > 0 for gain in gains.values()), ", ".join(f"{k} {gain:+.3f}" for k, gain in gains.items())
    if len(gains) > 4:  # too many to list
        told = f"{min(gains.values()):+.3f} to {max(gains.values()):+.3f}"
    return Claim(
        title,
        paper,
        f"better in {good} of {len(gains)} cells: {told}" + (f"; not run: {', '.join(missing)}" if missing else ""),
        by_counts(good, len(gains)),
        "holds if in all cells that were run, partly from half",
        see(table),
    )


def on_doc2vec(evidence: Evidence) -> Claim:
    gaps = []
    for metric, name in CLUSTERING_METRICS.items():
        for data, row in evidence.panel("raw_text", metric).paper.items():
            gaps.append(f"{named(data)} {name} {row['Doc2Vec+RDP'].mean - row['Doc2Vec'].mean:+.3f}")
    paper = ", ".join(gaps)
    return on_top(
        evidence, "raw_text", ("Doc2Vec",), "RDP on top of Doc2Vec is better than Doc2Vec (appendix G.1)", paper
    )


def on_rotnet(evidence: Evidence) -> Claim:
    wins = sum(
        row[f"{form}+RDP"].mean > row[form].mean
        for metric in CLUSTERING_METRICS
        for row in evidence.panel("raw_images", metric).paper.values()
        for form in ROTNETS
    )
    title = "RDP on top of RotNet is better than RotNet, all five forms (appendix G.2)"
    return on_top(evidence, "raw_images", ROTNETS, title, f"{wins} of 10 cells")


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
            told.append(f"{named(data)} {own} {mine[own]:.3f}, {first} {rivals[first]:.3f}")
    return Claim(
        "in classification RDP's features, with or without L_aux, are best (appendix H)",
        "on 5 of 5 sets",
        f"on {good} of {len(told)}: {'; '.join(told)}",
        by_counts(good, len(told)),
        "holds if on all, partly from half",
        see("classification"),
    )

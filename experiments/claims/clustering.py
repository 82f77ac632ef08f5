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
        "6 of 6 cells",
        f"{good} of {total} cells" if total else "-",
        by_counts(good, total),
        "level with the best counts, too; holds if all, partly from half",
        see("clustering"),
        f"RDP and the best other: {'; '.join(told)}. RCV1 cannot be had" if told else "",
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
        f"{good} of {total} cells" if total else "-",
        by_counts(good, total),
        "holds if in all cells, partly from half",
        see("clustering"),
        f"Better than {', '.join(told)}{_with_a_part(evidence)}" if total else "",
    )


def losses(evidence: Evidence) -> Claim:
    labels = ("RDP", NO_DISTANCE, NO_NOVELTY)
    names, values = evidence.values("ablation_clustering", "f_score", labels)
    paper_names, paper = printed(evidence.panel("ablation_clustering", "f_score").paper, labels)
    paper = paper[[paper_names.index(name) for name in names if name in paper_names]]
    drops = values[:, :1] - values[:, 1:] if len(values) else np.empty((0, 2))
    good = int((np.round(drops[:, 0] - drops[:, 1], 3) > 0.01).sum())
    return Claim(
        "in clustering L_rdp matters more than reconstruction (section 4.2.3)",
        f"on {int((np.round(paper[:, 2] - paper[:, 1], 3) > 0.01).sum())} of {len(paper)} sets",
        f"on {good} of {len(drops)} sets" if len(drops) else "-",
        by_counts(good, len(drops)),
        "F-score must fall by 0.01 more without L_rdp than without L_aux; holds if on all sets, partly from half",
        see("ablation_clustering"),
        "Change of F-score without L_rdp and without L_aux: "
        + ", ".join(f"{named(n)} {a:+.3f} and {b:+.3f}" for n, (a, b) in zip(names, -drops, strict=True))
        if len(drops)
        else "",
    )


def distances_suffice(evidence: Evidence) -> Claim:
    """RDP by distances alone against the whole: at most 0.02 lower is close."""
    good, total, told, theirs, close = 0, 0, [], [], 0
    for metric, title in CLUSTERING_METRICS.items():
        names, values = evidence.values("ablation_clustering", metric, ("RDP", NO_NOVELTY))
        gaps = values[:, 1] - values[:, 0] if len(values) else np.empty(0)
        good, total = good + int((gaps >= -0.02).sum()), total + len(gaps)
        told += [f"{named(name)} {title} {gap:+.3f}" for name, gap in zip(names, gaps, strict=True)]
        _, paper = printed(evidence.panel("ablation_clustering", metric).paper, ("RDP", NO_NOVELTY))
        their_gaps = np.round(paper[:, 1] - paper[:, 0], 3)
        close += int((their_gaps >= -0.02).sum())
        theirs += [f"{title} {gap:+.3f}" for gap in their_gaps]
    return Claim(
        "in clustering L_rdp alone does about as well as with reconstruction (section 4.2.3, appendix D)",
        f"{close} of {len(theirs)} cells",
        f"{good} of {total} cells" if told else "-",
        by_counts(good, total),
        "about as well is at most 0.02 below; holds if in all cells, partly from half",
        see("ablation_clustering"),
        f"Without L_aux: {', '.join(told)}. The paper's, in the order of its sets: {', '.join(theirs)}" if told else "",
    )


def sources(evidence: Evidence) -> Claim:
    names, values = evidence.values("ablation_clustering", "f_score", ("RDP", "Org_SS", "SRP_SS"))
    paper = evidence.panel("ablation_clustering", "f_score").paper["olivetti"]
    gaps = np.round(values[names.index("olivetti"), :1] - values[names.index("olivetti"), 1:], 3) if names else []
    return Claim(
        "in clustering η's distances teach much better than Org's and SRP's on Olivetti and RCV1 (section 4.2.3)",
        f"Olivetti: Org {paper['RDP'].mean - paper['Org_SS'].mean:+.3f}, "
        f"SRP {paper['RDP'].mean - paper['SRP_SS'].mean:+.3f}",
        f"Org {gaps[0]:+.3f}, SRP {gaps[1]:+.3f}" if len(gaps) else "-",
        by_counts(sum(gap > 0.01 for gap in gaps), len(gaps)),
        "by F-score; holds if more than 0.01 above both, partly above one",
        see("ablation_clustering"),
        "RCV1 cannot be had",
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
        "RDP on word counts and pixels is better than Doc2Vec and all five RotNets (appendix G)",
        f"{theirs} of {their_cells} cells",
        f"{good} of {total} cells" if total else "-",
        by_counts(good, total),
        "holds if in all cells that were run, partly from half",
        see("raw_text", "raw_images"),
        f"RDP minus the other, where it is not better: {', '.join(told)}" if told else "",
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
        "features take about as long as SRP and AE, and HLLE 100,000 times as long (appendix F.2)",
        f"{their_ratio:.1f} times the faster; HLLE {_range(their_orders)} times",
        f"{ratio:.1f} times the faster; HLLE {_range(orders)} times" if names else "-",
        OPEN if not names else PARTLY if ratio <= 2 and orders.min() < 4.5 else HOLDS if ratio <= 2 else DOES_NOT,
        "holds up to twice the faster and from 4.5 orders of magnitude below HLLE, partly if only the first",
        see("runtime_clustering"),
        f"Processor time, {len(names)} sets: the median for the faster of SRP and AE, least and most for HLLE. "
        "The paper says five orders of magnitude; its cells have four"
        if names
        else "",
    )


def _range(orders: np.ndarray) -> str:
    return f"{10 ** orders.min():,.0f} to {10 ** orders.max():,.0f}"


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
        f"within 0.04 in {good} of {total} cells" if told else "-",
        by_counts(good, total, enough=0.75),
        "from 512 to 1,280 components; holds if in three quarters of the cells, partly from half",
        see("sensitivity_clustering"),
        f"Largest minus smallest: {', '.join(told)}" if told else "",
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
    good = sum(gain > 0 for gain in gains.values())
    told = ", ".join(f"{what} {gain:+.3f}" for what, gain in gains.items())
    return Claim(
        title,
        paper,
        f"{good} of {len(gains)} cells" if gains else "-",
        by_counts(good, len(gains)),
        "holds if in all cells that were run, partly from half",
        see(table),
        (f"{told[0].upper()}{told[1:]}" if told else "")
        + (f"; not run: {', '.join(missing)}" if gains and missing else ""),
    )


def on_doc2vec(evidence: Evidence) -> Claim:
    gaps = {
        f"{named(data)} {name}": row["Doc2Vec+RDP"].mean - row["Doc2Vec"].mean
        for metric, name in CLUSTERING_METRICS.items()
        for data, row in evidence.panel("raw_text", metric).paper.items()
    }
    most = max(gaps, key=gaps.__getitem__)
    return on_top(
        evidence, "raw_text", ("Doc2Vec",), "RDP on top of Doc2Vec is better than Doc2Vec (appendix G.1)",
        f"{sum(gap > 0 for gap in gaps.values())} of {len(gaps)} cells, most {most} {gaps[most]:+.3f}",
    )  # fmt: skip


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
        "5 of 5 sets",
        f"{good} of {len(told)} sets" if told else "-",
        by_counts(good, len(told)),
        "holds if on all, partly from half",
        see("classification"),
        f"The better of RDP's and the best other: {'; '.join(told)}" if told else "",
    )

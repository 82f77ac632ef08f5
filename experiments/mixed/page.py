"""The page of the study, from its lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from experiments.false_alarms import AUTO, LAST_ROWS, LATER_ROWS, NORMAL_ROWS, OTHER_ROWS, RATES, SHARES, times_asked
from experiments.markdown import markdown_table
from experiments.mixed.measuring import N_RANDOM, N_REPAIRED, OURS
from experiments.mixed.planting import DIRTY, KINDS, SHARE

Records = list[dict[str, Any]]
AS_IT_IS, WHOLE = "as it is", "shuffled"
# the kinds that change a cell or three: the mean is over these
CELLS = tuple(kind for kind in KINDS if kind not in (WHOLE, DIRTY))
METRICS = ("auc_roc", "auc_pr")
_JUDGES = {  # where it is counted: what, of what
    "best repair first": ("repair", "same", "rows"),
    "nearly": ("repair", "nearly", "rows"),
    "by more": ("repair_by_more", "same", "rows"),
    "where it helps": ("repair", "worth_same", "worth"),
    "pairs": ("repair", "pairs_first", "pairs"),
}
_RIVALS = {"IsolationForest": "IsolationForest", "rarity": "the oddest cell of each row, without a model,"}
CHANCE = {"auc_roc": 0.5, "auc_pr": SHARE}

_HEAD = """# Mixed tables

<!-- written by `python -m experiments mixed report`; do not edit -->

Does it find errors in tables as people have them, and does it name the right column?
"""

_HOW = """## What was planted

24 public tables have numbers, categories, dates, texts, codes and missing cells. Of larger ones 5,000 rows are used.
They have no labels. So errors are planted, one kind at a time, in 1 % of the rows. The column is drawn for each row,
among those that the kind fits.

| kind | what happens |
|---|---|
| times100 | a number is multiplied by 100 |
| sign | a number changes its sign, where hardly any is negative |
| swap | a low number is replaced by one of the highest tenth of its column, a high number by one of the lowest |
| newcat | a letter is appended to a category |
| mismatch | a category becomes another one of its column |
| missing | three cells are emptied |
| shuffled | every number and category of the row is drawn again from its column, so that no cell is odd by itself |
| dirty | times100, newcat and missing at once, each in 1 % of the rows |

The methods:

- *rdplearn* is `rdplearn.detect` with its defaults, and *rdplearn, November 17* is an earlier version of it.
- *IsolationForest* gets the numbers, one component for each category, how frequent each text is, and which cells are
  missing.
- *rarity* has no model. It takes the oddest cell of a row: a number far from the median, or a rare category.
- *trial b* was the best of several trials on November 17: all columns count the same, and the oddest cell counts too.
"""

_AGAIN = """## Run it yourself

```console
export RDPLEARN_DATA=...              # the tables are the CSV files of its folder `mixed`
python -m experiments mixed run       # all methods: minutes. Stop and go on at any time
python -m experiments mixed run rdplearn --as "rdplearn, a trial"    # lines under another name
python -m experiments false-alarms    # does false_alarm_rate keep its promise, on made-up tables?
python -m experiments mixed report    # writes this page
```
"""


def page(records: Records, alarms: Records) -> str:
    """Write the page.

    records : of the mixed tables
    alarms : of the false-alarm rates
    """
    ours, records = _of_label(records, OURS), [record for record in records if record["kind"] != DIRTY]
    parts = [_HEAD, _headline(records, alarms), _HOW, _found(records), _reasons(records), _steady(records)]
    return "\n".join([*parts, _reported(ours), _alarms(alarms), _tables(records), _AGAIN])


def _headline(records: Records, alarms: Records) -> str:
    """Who finds how much, how often the reason is right, and whether alarms are as many as promised; what is there."""
    of = {label: _of_kinds(own, CELLS) for label, own in in_order(records).items()}
    ours = of.pop(OURS, [])
    said = []
    if ours:
        others = "; ".join(f"{said} {_both(of[label])}" for label, said in _RIVALS.items() if label in of)
        by_kind = {kind: quality(_of_kinds(ours, [kind]))[1] for kind in CELLS}
        weakest = min(CELLS, key=lambda kind: by_kind[kind] if np.isfinite(by_kind[kind]) else np.inf)
        said += [
            f"- **Finds errors**: mean AUC-ROC / AUC-PR **{_both(ours)}**; {others}. It is weakest on *{weakest}*.",
            f"- **Names the right column first** in {_named(ours)} planted rows among the top 2 %.",
        ]
    promised = _of_label([line for line in alarms if line["table"] in NORMAL_ROWS], OURS)
    if promised:
        times = times_asked(promised)
        listed = []
        for rate in RATES:
            of_rate = [value for case, value in times.items() if case[2] == rate]
            asked = "by default" if rate == AUTO else f"at a rate of {rate:g}"
            listed.append(f"in {sum(map(_is_within, of_rate))} of {len(of_rate)} cases {asked}")
        said.append(f"- **Reports as many as promised**, within a factor of 2, {', '.join(listed)}.")
    return "\n".join([*said, ""])


def in_order(records: Records) -> dict[str, Records]:
    """Lines by what they are called: ours first, and of these the one of today last; what is not complete says so."""
    names = {record["label"]: record.get("method", OURS) for record in records}
    order = sorted(names, key=lambda label: (names[label] != OURS, label == OURS, label))
    found = {label: [record for record in records if record["label"] == label] for label in order}
    most = max(map(len, found.values()), default=0)
    return {label if len(own) == most else f"{label} ({len(own)} of {most} lines)": own for label, own in found.items()}


def quality(records: Iterable[dict[str, Any]]) -> np.ndarray:
    """Mean AUC-ROC and AUC-PR of lines; a table that was refused counts as guessing, one where nothing fits not."""
    found = [
        [record.get("metrics", CHANCE)[metric] for metric in METRICS]
        for record in records
        if record["status"] != "no column fits"
    ]
    return np.mean(found, axis=0) if found else np.full(2, np.nan)


def _both(chosen: Iterable[dict[str, Any]]) -> str:
    return " / ".join(f"{value:.3f}" for value in quality(chosen))


def _found(records: Records) -> str:
    lines = [
        [
            label,
            *(_both(_of_kinds(own, [kind])) for kind in CELLS),
            f"**{_both(_of_kinds(own, CELLS))}**",
            _both(_of_kinds(own, [WHOLE])),
        ]
        for label, own in in_order(records).items()
    ]
    counts = [str(_n_tables(records, kind)) for kind in CELLS]
    lines.append(["tables", *counts, "", str(_n_tables(records, WHOLE))])
    return (
        "## Who finds what\n\nAUC-ROC / AUC-PR, the mean over tables. *all* is the mean over the first six kinds.\n\n"
        + markdown_table(["", *CELLS, "all", WHOLE], lines)
    )


def _reasons(records: Records) -> str:
    lines = []
    for label, own in in_order(records).items():
        shares = [_repaired(own, *where) for where in _JUDGES.values()]
        if any(shares):
            named = [_named(_of_kinds(own, [kind])) for kind in CELLS]
            lines.append([label, *named, f"**{_named(_of_kinds(own, CELLS))}**", *shares])
    return (
        "## The right reason\n\nLook at the planted rows in the top 2 %. How many have the planted column as the first "
        "reason of `explain`?\n\nThe last five columns are about tables without planted errors. Of the top "
        f"{N_REPAIRED} rows of each, how many have as first reason the column whose repair lowers the score most? To "
        "repair a cell, it is replaced by the median or most frequent value of its column, and by what the ten most "
        "similar rows have, and the row is scored again. *Nearly* also counts columns whose repair does at least nine "
        f"tenths of that. *By more* also tries the cells of {N_RANDOM} random rows.\n\n"
        "Where two columns say the same, such as a state and its number, mending one of them does nothing, and which "
        "repair does most is chance. *Where it helps* counts the rows of which the repair of one cell takes off a "
        "twentieth of the score or more. In the others, every two cells are mended together: *pairs* counts the rows "
        "of which that takes off a fifth or more, and whose first two columns in `explain` do nine tenths of the best "
        "pair.\n\n" + markdown_table(["planted column first", *CELLS, "all", *_JUDGES], lines)
    )


def _repaired(records: Records, key: str, what: str, of_what: str) -> str:
    found = [record[key] for record in records if what in record.get(key, {})]
    return _share(sum(one[what] for one in found), sum(one[of_what] for one in found)) if found else ""


def _processors(records: Records) -> set[str]:
    return {record["machine"]["processor"] for record in records}


def _steady(records: Records) -> str:
    lines, here = [], _processors([record for record in records if record["label"] == OURS])
    for label, own in in_order(records).items():
        as_it_is = [record for record in _of_kinds(own, [AS_IT_IS]) if record["status"] == "done"]
        if not as_it_is:
            continue
        reported = [record["reported"] for record in as_it_is if "reported" in record]
        shares = [f"{share:.1%}" for share in np.quantile(reported, [0.0, 0.5, 1.0])] if reported else ["", "", ""]
        seconds = f"{sum(record.get('cpu_seconds', 0.0) for record in own):,.0f} s" if _processors(own) == here else ""
        overlap = float(np.mean([record["overlap"] for record in as_it_is]))
        lines.append([label, f"{overlap:.2f}", *shares, seconds])
    return (
        "## How steady it is, and how much it reports\n\nOn the tables without planted errors: how much of the top 1 % "
        'two seeds have in common (1 is all), what share of rows `contamination="auto"` reports in the tables with '
        "the least, the median and the most, and the processor time of all runs, where they were on one kind of "
        "processor.\n\n" + markdown_table(["", "overlap", "reported, least", "median", "most", "processor time"], lines)
    )


def _reported(ours: Records) -> str:
    """How many planted rows `contamination="auto"` reports, and how many others."""
    kinds = (*CELLS, WHOLE, DIRTY)
    counted = {kind: [line["reported"] for line in _of_kinds(ours, [kind]) if "reported" in line] for kind in kinds}
    lines = [
        [said, *(f"{np.mean([one[which] for one in counted[kind]]):.1%}" if counted[kind] else "" for kind in kinds)]
        for said, which in {"planted rows": "planted", "other rows": "others"}.items()
    ]
    return (
        "## How many errors are reported\n\nWhat share of the planted rows, and of all others, "
        '`contamination="auto"` reports; the mean over tables. Among the others are real oddities.\n\n'
        + markdown_table(["", *kinds], lines)
    )


def _tables(records: Records) -> str:
    by_label = in_order(records)
    lines = []
    for name in sorted({record["data"] for record in records}):
        of_table = [_of_table(own, name) for own in by_label.values()]
        lines.append([name.removeprefix("mixed/"), *(f"{quality(_of_kinds(own, CELLS))[1]:.3f}" for own in of_table)])
    return (
        "## Table by table\n\nMean AUC-PR over the first six kinds.\n\n<details><summary>"
        f"{len(lines)} tables</summary>\n\n" + markdown_table(["", *by_label], lines) + "\n</details>\n"
    )


def _alarms(alarms: Records) -> str:
    said = [
        "## Does the false-alarm rate keep its promise?\n\nA model is fitted on a made-up table of 3,000 rows. Then "
        "new normal rows are scored. How many of them are reported, as a multiple of the rate that was asked for? 1 is "
        f"just right. The {len(SHARES)} figures in a cell are for tables with "
        f"{', '.join(f'{100 * share:g}' for share in SHARES)} % uniform anomalies; each is the median over seeds. A "
        "fifth of the rows is kept from all members. *auto* is the default of `contamination`, which promises about "
        "0.01. The rule was chosen on these six kinds of tables, and changed once after the next eleven had been seen: "
        "rows that are near each other are a rare kind of normal row, and where a rate cannot be known the line errs "
        "towards fewer alarms.\n",
        *_alarm_tables(alarms, list(NORMAL_ROWS)),
        "### Six other kinds of tables, other anomalies\n\nIn tables that are mostly zero, and in unequal clusters, "
        "anomalies are a group of their own. In one-hot tables they are words that do not go together. In the others a "
        "single column is odd.\n",
        *_alarm_tables(alarms, list(OTHER_ROWS)),
    ]
    later = _alarm_tables(alarms, list(LATER_ROWS))
    if later:
        said += [
            "### Five more\n\n*Rare binary* has twelve columns of 0 and 1 that are 1 "
            "in 1 to 5 % of the rows, and anomalies of random bits. *People* and *sales* mix numbers, counts, rounded "
            "amounts and flags, with anomalies that are odd in one column. *Round trip* is a ring in six columns, and "
            "in *two kinds* 2 % of the normal rows lie apart; their anomalies are uniform.\n",
            *later,
        ]
    last = _alarm_tables(alarms, list(LAST_ROWS))
    if last:
        said += [
            "### Four more, for a check\n\nWritten down before the rule was changed, and run when it was done. Then "
            "*payments* without anomalies were reported far too often, and the rule was changed once more: rows with "
            "nearly the same score stay a kind, as they were before. The other three had no say. *Machine* has eight "
            "sensors, at rest in 3 % of the rows; anomalies have half of them from another row. *Payments* have an "
            "amount that goes with a category, the rarest in 1 % of the rows; anomalies are large, and at night. "
            "*Visits* are counts, of which anomalies have five times as many. *Thirty columns* go together and have "
            "heavy tails; in anomalies they do not go together.\n",
            *last,
        ]
    return "\n".join(said)


def _alarm_tables(alarms: Records, kinds: list[str]) -> list[str]:
    said = []
    for label, own in in_order([line for line in alarms if line["table"] in kinds]).items():
        times = times_asked(own)
        lines = [
            [kind, *(" ".join(f"{times.get((kind, share, rate), np.nan):.2g}" for share in SHARES) for rate in RATES)]
            for kind in kinds
        ]
        shown = [_kept([value for case, value in times.items() if case[2] == rate]) for rate in RATES]
        found = [_caught([line for line in own if line["asked"] == rate and line["anomalies"] > 0]) for rate in RATES]
        lines += [["within a factor of 2", *shown], ["anomalies found", *found]]
        header = ["", *(AUTO if rate == AUTO else f"asked {rate:g}" for rate in RATES)]
        said.append(f"**{label}**\n\n" + markdown_table(header, lines))
    return said


def _kept(times: list[float]) -> str:
    within, above = (sum(map(test, times)) for test in (_is_within, _is_above))
    return f"{within} of {len(times)}, {above} above"


def _is_within(times: float) -> bool:
    return 0.5 <= times <= 2.0


def _is_above(times: float) -> bool:
    return times > 2.0


def _caught(lines: Records) -> str:
    return f"{np.mean([line['anomalies_reported'] for line in lines]):.0%}" if lines else ""


def _named(records: Records) -> str:
    counts = [record["named"] for record in records if "named" in record]
    return _share(sum(count["first"] for count in counts), sum(count["in_top"] for count in counts))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} of {whole:,}" if whole else "none"


def _of_kinds(records: Records, kinds: Iterable[str]) -> Records:
    wanted = set(kinds)
    return [record for record in records if record["kind"] in wanted]


def _of_label(records: Records, label: str) -> Records:
    return [record for record in records if record["label"] == label]


def _of_table(records: Records, name: str) -> Records:
    return [record for record in records if record["data"] == name]


def _n_tables(records: Records, kind: str) -> int:
    return len({record["data"] for record in _of_kinds(records, [kind]) if record["status"] != "no column fits"})

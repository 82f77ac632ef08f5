"""The figures of the README and of the site's front page of results are those of the result files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from experiments.front_page.evidence import (
    BEGIN,
    CLAIMS_BEGIN,
    END,
    evidence,
    rows_below,
    site_page,
    with_table,
)

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_figures_of_the_readme_are_those_of_the_results():
    assert with_table(README, evidence()) == README, "Run: python -m experiments front-page"


def test_the_site_has_the_evidence_and_every_claim_of_the_paper_with_its_verdict():
    page = (ROOT / "docs" / "evidence.md").read_text()
    assert site_page(page) == page, "Run: python -m experiments front-page"
    assert rows_below(page, BEGIN).keys() == rows_below(README, BEGIN).keys()
    assert set(rows_below(page, CLAIMS_BEGIN)) == set(
        rows_below((ROOT / "docs" / "results.md").read_text(), "<!-- claims -->")
    )


def test_no_other_figure_of_quality_stands_in_the_readme():
    before, rest = README.split(BEGIN)
    assert not re.findall(r"\b0\.\d{3}\b|\d+x\b", before + rest.split(END)[1])


def test_a_changed_result_changes_the_table(tmp_path):
    for page in ("default.md", "default_tables.md", "results.md", "speed.md", "mixed.md"):
        (tmp_path / page).write_text((ROOT / "docs" / page).read_text())
    before, default = evidence(tmp_path), tmp_path / "default.md"
    rows = rows_below(default.read_text(), "## Against what users pick today")
    ours = next(cell for column, cell in rows["RDP default"].items() if column.startswith("all "))
    default.write_text(default.read_text().replace(f"| {ours} |", "| 0.999 / 0.998 |"))
    assert "0.999 / 0.998" not in before
    assert "0.999 / 0.998" in evidence(tmp_path)


def test_a_page_without_its_table_is_named():
    with pytest.raises(ValueError, match="must have a table below '## Cost'"):
        rows_below("# Page\n", "## Cost")


def test_pictures_are_there_and_small():
    names = re.findall(r'"(docs/figures/[^"]+)"', README)
    assert names
    for name in names:
        assert 10_000 < (ROOT / name).stat().st_size < 150_000, name


def test_nothing_names_a_private_network():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    private = re.compile(r"\b(10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(1[6-9]|2\d|3[01])\.\d+\.\d+)\b")
    assert {path.name: private.findall(path.read_text()) for path in pages if private.search(path.read_text())} == {}

"""The page as a text, without a browser."""

from __future__ import annotations

import html
import re

import pytest

from rdplearn.report import detection_report, figures, page, write_page
from tests.report.conftest import NASTY_NAME, fitted, nasty_table


def test_a_page_stands_alone(orders_found):
    text = page(orders_found)
    outside_scripts = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", outside_scripts)
    assert "@import" not in outside_scripts
    assert "default-src 'none'; script-src 'sha256-" in html.unescape(text[:1000])


def test_names_and_values_are_no_markup():
    found = detection_report(fitted(nasty_table()), nasty_table())
    text = page(found)
    assert NASTY_NAME not in text
    assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in text
    assert len(re.findall(r"<script", text.split('id="found"')[0])) == 1
    hovered = "".join(figures(found)["map"].data[0].hovertext)
    assert "<script" not in hovered
    assert "<img" not in hovered


def test_the_parts_of_the_page_are_there(orders_found):
    text = page(orders_found)
    for part in ("kinds", "line", "map", "rows", "drivers", "evaluation", "columns", "training", "making"):
        assert f'id="{part}"' in text
    assert "with seed 0" in text
    assert "n_members" in text


def test_a_page_is_written_whole_or_not_at_all(tmp_path, orders_found):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(KeyError):
        write_page({"kind": "detection"}, path)
    assert path.read_text() == "old"
    write_page(orders_found, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_figures_are_those_of_the_page(orders_found):
    drawn = figures(orders_found)
    assert set(drawn) == {"map", "scores", "training", "roc", "precision_recall"}
    assert sum(drawn["map"].data[0].marker.color) > 0
    assert drawn["scores"].layout.shapes[0].x0 == orders_found["scores"]["threshold"]

"""The page in a real browser: it loads nothing, complains of nothing, and does what it says."""

from __future__ import annotations

import base64
import re

import pytest

from tests.report.browsing import cells, click, drag_over_map, heading, open_fold, text_of, texts_of, type_into
from tests.report.conftest import NASTY_NAME, NASTY_VALUES, complaints, nasty_table, requests

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize("name", ["orders", "nasty", "calm", "one_row", "many_rows", "many_columns"])
def test_every_page_is_drawn_without_a_request_or_a_complaint(browse, pages, name):
    browser = browse(pages[name])
    assert "Plotly" in browser.execute_script("return Object.keys(window).filter((key) => key === 'Plotly')")
    open_fold(browser, "training")
    for chart in ("scores", "map", "training"):
        assert browser.execute_script(f"return document.querySelectorAll('#chart-{chart} svg .trace').length") > 0


def test_what_the_checks_look_for_would_be_seen(chromium, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<script>fetch('http://127.0.0.1:9/x').catch(() => 0); nonsense()</script>")
    chromium.get_log("browser")
    chromium.get(path.as_uri())
    assert any("nonsense" in complaint for complaint in complaints(chromium))
    assert any("127.0.0.1" in address for address in requests(chromium))


def test_the_threshold_moves_the_count(browse, pages, orders_found):
    from selenium.webdriver.common.keys import Keys

    browser = browse(pages["orders"])
    n_rows = int(browser.execute_script("return document.getElementById('line-count').value"))
    assert n_rows == orders_found["scores"]["n_reported"]
    slider = browser.find_element("css selector", "#line-slider")
    for _ in range(3):
        slider.send_keys(Keys.ARROW_RIGHT)
    moved = int(browser.execute_script("return document.getElementById('line-count').value"))
    line = browser.execute_script("return report.line")
    assert moved > n_rows
    assert moved == next(one["n_rows"] for one in orders_found["scores"]["lines"] if one["threshold"] == line)
    assert text_of(browser, "#line-reported") == f"{moved} rows"
    assert browser.execute_script("return document.getElementById('chart-scores').layout.shapes[0].x0") == line
    shown = [row for row in orders_found["rows"][:25] if row["score"] > line]
    assert len(texts_of(browser, "#row-table tr.reported")) == len(shown)


def test_a_number_of_rows_sets_the_line_and_the_models_line_comes_back(browse, pages, orders_found):
    browser = browse(pages["orders"])
    type_into(browser, "#line-count", "5\n")
    assert text_of(browser, "#line-reported") == "5 rows"
    assert len(texts_of(browser, "#row-table tr.reported")) == 5
    click(browser, "#line-reset")
    assert browser.execute_script("return report.line") == orders_found["scores"]["threshold"]


def test_a_click_on_the_distribution_sets_the_line(browse, pages):
    browser = browse(pages["orders"])
    place = "document.getElementById('chart-scores')"
    middle = browser.execute_script(f"return {place}.data[0].x[40]")
    browser.execute_script(f"{place}.emit('plotly_click', {{points: [{{x: arguments[0]}}]}})", middle)
    line = browser.execute_script("return report.line")
    assert abs(line - middle) <= min(
        abs(one["threshold"] - middle) for one in browser.execute_script("return report.scores.lines")
    )


def test_rows_are_sorted_by_any_column_in_both_directions(browse, pages):
    browser = browse(pages["orders"])
    scores = [float(score) for score in cells(browser, "Score")]
    assert scores == sorted(scores, reverse=True)
    click(browser, heading(browser, "amount"))
    falling = [float(amount.replace(",", "")) for amount in cells(browser, "amount")]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] == 9800.0
    click(browser, heading(browser, "amount"))
    rising = [float(amount.replace(",", "")) for amount in cells(browser, "amount")]
    assert rising == sorted(rising)
    click(browser, heading(browser, "country"))
    assert cells(browser, "country") == sorted(cells(browser, "country"))


def test_search_finds_rows_by_any_value(browse, pages):
    browser = browse(pages["orders"])
    type_into(browser, "#row-search", "atlantis")
    assert cells(browser, "Row") == ["31"]
    assert text_of(browser, "#row-told") == "1 row"
    type_into(browser, "#row-search", "A-17 9800")
    assert cells(browser, "Row") == ["18"]
    type_into(browser, "#row-search", "no such thing")
    assert cells(browser, "Row") == []
    assert text_of(browser, "#row-told") == "0 rows"


def test_a_row_opens_its_explanation_and_closes_again(browse, pages, orders_found):
    browser = browse(pages["orders"])
    type_into(browser, "#row-search", "A-17 9800")
    browser.find_element("css selector", "#row-table tr.row td.reason").click()
    first = text_of(browser, ".explanation .reasons > li > .words")
    assert first.startswith("amount 9,800")
    assert "typical" in first
    row = next(row for row in orders_found["rows"] if row["row"] == 18)
    assert len(texts_of(browser, ".explanation .reasons > li")) == len(row["reasons"]["columns"])
    bars = "return [...document.querySelectorAll('.explanation .reasons > li > .track > .bar')]"
    widths = browser.execute_script(f"{bars}.map((bar) => bar.getBoundingClientRect().width)")
    assert widths[0] == max(widths) > 50
    assert "A-17" in text_of(browser, "#row-table tr.opened .pairs")
    click(browser, "#row-table tr.row .opener button")
    assert texts_of(browser, "#row-table tr.opened") == []


def test_a_box_on_the_map_filters_the_list(browse, pages):
    browser = browse(pages["orders"])
    drag_over_map(browser, (0.01, 0.01, 0.5, 0.99))
    n_left = int(re.match(r"\d+", text_of(browser, "#row-chip-told")).group())
    assert 0 < n_left < 400
    assert text_of(browser, "#row-told").endswith(f"{n_left} rows")
    click(browser, "#row-chip-clear")
    assert text_of(browser, "#row-told") == "first 25 of 60 rows"
    drag_over_map(browser, (0.5, 0.01, 0.99, 0.99))
    n_right = int(re.match(r"\d+", text_of(browser, "#row-chip-told")).group())
    assert n_left + n_right == pytest.approx(400, abs=8)  # rows at the very border of the boxes


def test_a_click_on_the_map_opens_that_row(browse, pages):
    browser = browse(pages["orders"])
    script = """
        const place = document.getElementById('chart-map');
        const last = place.data[0].x.length - 1;
        place.emit('plotly_click', {points: [{curveNumber: 0, pointNumber: last}]});
        return report.rows[report.map_rows[0][last]].row;
    """
    assert cells(browser, "Row") != []
    row = browser.execute_script(script)
    assert cells(browser, "Row") == [f"{row:,}"]
    assert len(texts_of(browser, ".explanation")) == 1


def test_resting_on_the_map_shows_the_row(browse, pages, orders_found):
    browser = browse(pages["orders"])
    browser.execute_script(
        "const place = document.getElementById('chart-map');"
        "Plotly.Fx.hover(place, [{curveNumber: 0, pointNumber: place.data[0].x.length - 1}])"
    )
    shown = text_of(browser, "#chart-map .hoverlayer")
    assert f"row {orders_found['rows'][0]['row']:,}" in shown


def test_no_text_of_the_table_is_executed_and_all_of_it_is_shown(browse, pages):
    browser = browse(pages["nasty"])
    for _ in range(3):
        click(browser, "#row-table tr.row:not(.open) .opener button")
    for place in range(3):
        browser.execute_script(
            f"Plotly.Fx.hover(document.getElementById('chart-map'), [{{curveNumber: 0, pointNumber: {place}}}])"
        )
    type_into(browser, "#row-search", "<img")
    for _ in range(8):
        if browser.execute_script("return document.getElementById('row-more').hidden"):
            break
        click(browser, "#row-more")
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    assert (
        browser.execute_script("return document.querySelectorAll('main script, main img, [onmouseover]').length") == 0
    )
    column = nasty_table().column(NASTY_NAME).to_pylist()
    images = sum(value == NASTY_VALUES[1] for value in column)
    assert cells(browser, NASTY_NAME) == [NASTY_VALUES[1]] * images
    type_into(browser, "#row-search", "")
    everything = text_of(browser, "body main")
    assert NASTY_NAME in everything
    assert "اسم" in everything


def test_when_nothing_is_reported_the_page_says_so(browse, pages):
    browser = browse(pages["calm"])
    assert text_of(browser, "h1") == "No unusual row among 200"
    assert text_of(browser, "#line-reported") == "0 rows"
    assert texts_of(browser, "#row-table tr.reported") == []


def test_a_table_of_one_row_has_a_page(browse, pages):
    browser = browse(pages["one_row"])
    assert cells(browser, "Row") == ["1"]
    assert "All rows are listed." in text_of(browser, "#rows")


def test_many_rows_are_sampled_where_they_are_drawn_and_the_page_says_so(browse, pages):
    assert pages["many_rows"].stat().st_size < 8e6
    browser = browse(pages["many_rows"])
    n_drawn = browser.execute_script("return document.getElementById('chart-map').data[0].x.length")
    assert n_drawn < 2000
    assert f"Of 100,000 rows, {n_drawn:,} are drawn" in text_of(browser, "#map")
    assert "of 100,000" in text_of(browser, "#line-told")


def test_many_columns_are_listed_and_few_of_them_shown(browse, pages):
    assert pages["many_columns"].stat().st_size < 8e6
    browser = browse(pages["many_columns"])
    assert len(texts_of(browser, "#columns tbody tr")) == 500
    click(browser, "#row-table tr.row .opener button")
    assert "Values of 40 of 500 columns" in text_of(browser, "#row-table tr.opened")
    assert "other columns together" in text_of(browser, ".explanation")


@pytest.mark.parametrize("name", ["orders", "nasty", "many_columns"])
def test_nothing_sticks_out_on_a_phone(browse, pages, name):
    browser = browse(pages[name], width=390)
    click(browser, "#row-table tr.row .opener button")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390


def test_the_page_and_its_charts_are_dark_on_a_dark_screen(browse, pages):
    colours = {}
    for scheme in ("light", "dark"):
        browser = browse(pages["orders"], scheme=scheme)
        page_colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        chart_colour = browser.execute_script("return document.getElementById('chart-map')._fullLayout.font.color")
        colours[scheme] = sum(map(int, re.findall(r"\d+", page_colour)[:3])), chart_colour
    assert colours["light"][0] > 700
    assert colours["dark"][0] < 100
    assert colours["light"][1] != colours["dark"][1]


def test_the_page_prints(browse, pages):
    browser = browse(pages["orders"], scheme="dark")
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")
    n_pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 2 <= n_pages <= 10

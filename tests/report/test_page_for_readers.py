"""The page for a reader who has to decide: trust first, kinds, bars, pictures, downloads, answers."""

from __future__ import annotations

import re

import pytest

from rdplearn.report import write_page
from rdplearn.report.verdict import verdict_on_ranking
from tests.report.browsing import cells, click, downloaded, text_of, texts_of, type_into
from tests.report.conftest import NASTY_NAME, NASTY_VALUES, nasty_table, orders, patience

pytestmark = pytest.mark.xdist_group("browser")

REASON_BARS = ".explanation .reasons > li > .track > .bar:not(.lowers)"
ANSWER = "td.answer .answers[data-row='{}'] [data-answer='{}']"


@pytest.fixture
def forgetful(browse):
    """Opens a page in a browser that has kept no answers, and leaves none behind."""
    opened = []

    def open_page(path, **screen):
        browse(path, **screen).execute_script("localStorage.clear()")
        opened.append(browse(path, **screen))
        return opened[0]

    yield open_page
    opened[0].execute_script("localStorage.clear()")


def shares_of_tracks(browser, selector: str) -> list[float]:
    """How far bars reach along the space that they have."""
    script = """return [...document.querySelectorAll(arguments[0])].map(
        (bar) => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width)"""
    return browser.execute_script(script, selector)


def test_a_low_stability_stands_on_top(browse, orders_found, tmp_path):
    shaky = orders_found | {"verdict": verdict_on_ranking({"figure": 0.2, "n_top": 10}, 400)}
    write_page(shaky, tmp_path / "shaky.html")
    browser = browse(tmp_path / "shaky.html")
    assert text_of(browser, ".verdict.poor .title") == "Do not rely on this ranking yet"
    tops = browser.execute_script(
        "return ['.verdict', '.summary', '#kinds', '#rows', '#line', '#record'].map("
        "(one) => document.querySelector(one).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)


def test_columns_training_and_parameters_are_folded_away(browse, pages):
    browser = browse(pages["orders"])
    are_open = "return [...document.querySelectorAll('#record details')].map((one) => one.open)"
    assert browser.execute_script(are_open) == [False, False, False]


def test_the_length_of_a_bar_is_its_number(browse, pages, orders_found):
    browser = browse(pages["orders"])
    shares = [driver["share"] for driver in orders_found["drivers"]]
    assert shares_of_tracks(browser, "#drivers .bar") == pytest.approx(shares, abs=0.01)
    of_kinds = [kind["n_rows"] / orders_found["n_alarms_explained"] for kind in orders_found["kinds"]]
    assert shares_of_tracks(browser, "#kinds .bar")[: len(of_kinds)] == pytest.approx(of_kinds, abs=0.01)
    click(browser, "#row-table tr.row .opener button")
    shares = [column["share"] for column in orders_found["rows"][0]["reasons"]["columns"] if column["share"] > 0]
    assert shares_of_tracks(browser, REASON_BARS) == pytest.approx(shares, abs=0.01)


def test_each_reason_has_a_picture_with_the_rows_value_marked(browse, pages, orders_found):
    browser = browse(pages["orders"])
    type_into(browser, "#row-search", "A-17 9800")
    click(browser, "#row-table tr.row .opener button")
    row = next(row for row in orders_found["rows"] if row["row"] == 18)
    columns = [column["column"] for column in row["reasons"]["columns"]]
    assert len(texts_of(browser, ".explanation .reasons > li > .spread")) == len(columns)
    amount = f".explanation .reasons > li:nth-child({columns.index('amount') + 1}) svg.spread"
    assert len(texts_of(browser, f"{amount} rect")) == 24
    assert len(texts_of(browser, f"{amount} path.mark")) == 1  # an arrow: far beyond the axis
    assert text_of(browser, f"{amount} title").startswith("amount: nearly all rows lie between")
    type_into(browser, "#row-search", "atlantis")
    click(browser, "#row-table tr.row .opener button")
    assert "Atlantis1 row" in texts_of(browser, ".explanation ul.spread li.own")
    assert len(texts_of(browser, ".explanation ul.spread li")) == 4  # the most frequent, and its own


def test_a_kind_shows_its_rows(browse, pages, orders_found):
    browser = browse(pages["orders"])
    kind = orders_found["kinds"][0]
    click(browser, "#kinds button[data-kind='0']")
    assert text_of(browser, "#row-chip-told").startswith(f"{kind['kind']}: ")
    assert sorted(int(row) for row in cells(browser, "Row")) == sorted(kind["rows"])
    assert len(texts_of(browser, ".explanation")) == 1


@pytest.mark.parametrize(
    ("name", "width"), [("orders", 1000), ("orders", 1400), ("nasty", 1400), ("many_columns", 1400)]
)
def test_no_column_of_the_list_is_cut(browse, pages, name, width):
    browser = browse(pages[name], width=width)
    click(browser, "#row-table tr.row .opener button")
    script = "const box = document.getElementById('row-table').parentElement; return [box.scrollWidth, box.clientWidth]"
    needed, there = browser.execute_script(script)
    assert needed <= there
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert "Your answer" in texts_of(browser, "#row-table thead th")


def test_a_wider_window_shows_more_columns(browse, pages):
    browser = browse(pages["many_columns"], width=1000)
    n_narrow = len(texts_of(browser, "#row-table thead th"))
    screen = {"width": 1800, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.execute_script("window.dispatchEvent(new Event('resize'))")
    assert len(texts_of(browser, "#row-table thead th")) > n_narrow
    assert "more columns: open a row to see all its values." in text_of(browser, "#row-columns")


def test_the_rows_of_the_list_are_downloaded_as_csv(browse, pages, orders_found):
    browser = browse(pages["orders"])
    name, lines = downloaded(browser, "#row-download")
    header = ["row", *orders_found["shown_columns"], "anomaly_score", "rank", "anomalous"]
    assert name == "the table.rows.csv"
    assert lines[0][: len(header)] == header
    assert lines[0][len(header) :] == [f"{p}_{n}" for n in (1, 2, 3) for p in ("reason", "value", "typical")]
    assert [int(line[0]) for line in lines[1:]] == [row["row"] for row in orders_found["rows"][:60]]
    assert [int(line[header.index("rank")]) for line in lines[1:]] == list(range(1, 61))
    n_anomalous = sum(line[header.index("anomalous")] == "true" for line in lines[1:])
    assert n_anomalous == orders_found["scores"]["n_reported"]
    type_into(browser, "#row-search", "atlantis")
    assert [line[0] for line in downloaded(browser, "#row-download")[1]] == ["row", "31"]


def test_a_file_is_really_saved(browse, pages, tmp_path):
    browser = browse(pages["orders"])
    where = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": True}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    browser.find_element("css selector", "#row-download").click()
    path = tmp_path / "the table.rows.csv"
    patience(browser).until(lambda _: path.exists() and path.stat().st_size > 0)
    assert path.read_text(encoding="utf-8").startswith("row,order,country,amount,quantity,ordered,anomaly_score,")


def test_answers_are_kept_in_the_page_and_downloaded(forgetful, browse, pages, orders_found):
    browser = forgetful(pages["orders"])
    assert text_of(browser, "#answers-told") == "No answers yet."
    first, second, third = (row["row"] for row in orders_found["rows"][:3])
    click(browser, ANSWER.format(first, "anomalous"))
    click(browser, ANSWER.format(second, "normal"))
    click(browser, ANSWER.format(third, "normal"))
    click(browser, ANSWER.format(third, "normal"))  # taken back
    assert texts_of(browser, ".explanation") == []  # an answer does not open its row
    click(browser, "#row-table tr.row .opener button")
    click(browser, f".explanation .answers[data-row='{first}'] [data-answer='unsure']")
    assert text_of(browser, "#answers-told") == "1 fine, 1 not sure."
    browser = browse(pages["orders"])  # opened again
    assert text_of(browser, "#answers-told") == "1 fine, 1 not sure."
    button = browser.find_element("css selector", ANSWER.format(second, "normal"))
    assert button.get_attribute("aria-pressed") == "true"
    name, lines = downloaded(browser, "#answers-download")
    assert name == "answers.csv"
    assert lines[0] == ["row", "answer", "when", *orders().column_names]
    assert [(int(line[0]), line[1]) for line in lines[1:]] == [(second, "normal"), (first, "unsure")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line[2]) for line in lines[1:])
    own = orders().slice(second - 1, 1).to_pylist()[0]
    assert lines[1][3:5] == [own["order"], own["country"]]
    assert float(lines[1][5]) == own["amount"]
    assert lines[1][6:] == [str(own["quantity"]), own["ordered"], str(own["fraud"])]


def test_a_browser_that_keeps_nothing_says_so_and_still_has_the_answers(forgetful, pages):
    browser = forgetful(pages["orders"])
    browser.execute_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
    click(browser, "td.answer [data-answer='anomalous']")
    told = text_of(browser, "#answers-told")
    assert told == "1 anomalous. This browser does not keep them: download them before you close the page."
    assert len(downloaded(browser, "#answers-download")[1]) == 2


def test_cells_that_need_quotes_come_back_whole(forgetful, pages):
    browser = forgetful(pages["nasty"])
    _, lines = downloaded(browser, "#row-download")
    assert lines[0][1] == NASTY_NAME
    assert {line[1] for line in lines[1:]} == set(NASTY_VALUES)
    click(browser, "td.answer [data-answer='anomalous']")
    _, lines = downloaded(browser, "#answers-download")
    assert lines[0][3:] == nasty_table().column_names
    assert lines[1][3] in NASTY_VALUES


def test_answers_can_be_given_on_a_phone(forgetful, pages):
    browser = forgetful(pages["orders"], width=390)
    click(browser, "#row-table tr.row .opener button")
    button = browser.find_element("css selector", ".explanation [data-answer='anomalous']")
    assert button.is_displayed()
    button.click()
    assert text_of(browser, "#answers-told") == "1 anomalous."


def test_clusters_have_a_page_that_says_when_there_are_none(browse, pages):
    browser = browse(pages["clusters"])
    assert text_of(browser, ".verdict.poor .title") == "There are no clusters"
    assert text_of(browser, "h1") == "400 rows, cut into 4 parts"
    assert "silhouette" in text_of(browser, "#clusters .card h3")
    _, lines = downloaded(browser, "#row-download")
    assert lines[0] == ["row", "x", "y", "cluster"]
    assert len(lines) == 401

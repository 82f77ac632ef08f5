"""What a reader does with a page, by way of the browser: looks, clicks, types, draws, saves."""

from __future__ import annotations

import csv
import io

from tests.report.conftest import wait_until


def text_of(browser, selector: str) -> str:
    return browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def texts_of(browser, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return browser.execute_script(script, selector)


def click(browser, selector: str) -> None:
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def type_into(browser, selector: str, text: str) -> None:
    field = browser.find_element("css selector", selector)
    field.clear()
    field.send_keys(text)


def heading(browser, title: str) -> str:
    """The selector of a column's heading in the list of rows."""
    place = texts_of(browser, "#row-table thead th").index(title)
    return f"#row-table thead th:nth-of-type({place + 1}) button"


def cells(browser, title: str) -> list[str]:
    place = texts_of(browser, "#row-table thead th").index(title)
    return texts_of(browser, f"#row-table tr.row td:nth-of-type({place + 2})")


def drag_over_map(browser, shares: tuple[float, float, float, float]) -> None:
    """Draw a box on the map with the mouse, from one place to another, in shares of its width and height."""
    from selenium.webdriver import ActionChains

    area = browser.find_element("css selector", "#chart-map .nsewdrag")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    left, top, right, bottom = (
        share * area.size[side] for share, side in zip(shares, ("width", "height") * 2, strict=True)
    )
    middle = area.size["width"] / 2, area.size["height"] / 2
    mouse = ActionChains(browser, duration=50)
    mouse.move_to_element_with_offset(area, int(left - middle[0]), int(top - middle[1])).click_and_hold()
    mouse.move_by_offset(10, 10).move_by_offset(int(right - left) - 10, int(bottom - top) - 10).release().perform()
    wait_until(browser, "return !document.getElementById('row-chip').hidden")


def open_fold(browser, name: str) -> None:
    """Open what is folded away, and wait for its chart."""
    browser.execute_script("document.getElementById(arguments[0]).open = true", name)
    wait_until(browser, f"return !!document.querySelector('#chart-{name} svg .trace')")


def downloaded(browser, selector: str) -> tuple[str, list[list[str]]]:
    """What a button gives the reader to save: the name of the file, and its cells."""
    browser.execute_script(
        "window.saved = {};"
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved.text = text; }); return '#'; };"
        "HTMLAnchorElement.prototype.click = function () { window.saved.name = this.download; };"
    )
    click(browser, selector)
    wait_until(browser, "return window.saved.text !== undefined && window.saved.name !== undefined")
    saved = browser.execute_script("return window.saved")
    return saved["name"], list(csv.reader(io.StringIO(saved["text"])))

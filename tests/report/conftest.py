"""Tables with planted oddities, the pages that are written about them, and one browser for all tests of a run."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rdplearn import RDPClusterer, RDPDetector, TableEncoder, TableModel
from rdplearn.report import cluster_report, detection_report, write_page

QUICK = {"n_members": 3, "n_rounds": 1, "n_steps": 60, "max_samples": 1000, "random_state": 0}
NASTY_NAME = "<script>window.hacked=1</script>"
NASTY_VALUES = [
    "</script><script>window.hacked=2</script>",
    "<img src=x onerror='window.hacked=3'>",
    '" onmouseover="window.hacked=4',
    "'quotes' & \"more\" &lt;b&gt;",
    "naïve 🦊 emoji 👩‍🚀",
    "مرحبا بالعالم",
    "שלום <b>bold</b>",
    "{{ 7 * 7 }} ${alert(1)} %{x}",
]


def orders(n_rows: int = 400) -> pa.Table:
    """Orders, of which row 18 has a far too high amount and row 31 comes from a country of its own."""
    rng = np.random.default_rng(0)
    country = rng.choice(["Norway", "Italy", "France"], n_rows).astype(object)
    amount = np.exp(rng.normal(4, 0.4, n_rows)).round(2)
    amount[17], country[30] = 9800.0, "Atlantis"
    return pa.table(
        {
            "order": [f"A-{number}" for number in range(n_rows)],
            "country": country,
            "amount": amount,
            "quantity": rng.integers(1, 6, n_rows),
            "ordered": [f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(n_rows)],
            "fraud": (np.isin(np.arange(n_rows), [17, 30])).astype(int),
        }
    )


def fitted(table: pa.Table, *, ignore: tuple[str, ...] = (), **changes: object) -> TableModel:
    return TableModel(RDPDetector(**(QUICK | changes)), TableEncoder(ignore=ignore)).fit(table)


@pytest.fixture(scope="session")
def orders_model() -> TableModel:
    return fitted(orders(), ignore=("order", "fraud"), n_members=4, n_steps=150, contamination=0.01)


@pytest.fixture(scope="session")
def orders_found(orders_model) -> dict:
    return detection_report(orders_model, orders(), ids=["order"], label="fraud", n_top=60)


def nasty_table() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            NASTY_NAME: rng.choice(np.array(NASTY_VALUES, dtype=object), 200),
            "\"quoted\" 'name' & 🦊": rng.normal(size=200),
            "اسم": rng.choice(["أ", "ب"], 200),
            "plain": np.where(np.arange(200) == 5, 50.0, rng.normal(size=200)),
        }
    )


def arch(n_rows: int = 400) -> pa.Table:
    """One curved whole, without clusters."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, n_rows)
    across, up = (side + rng.normal(0, 0.05, n_rows) for side in (np.cos(angle), np.sin(angle)))
    return pa.table({"x": across, "y": up})


@pytest.fixture(scope="session")
def pages(tmp_path_factory, orders_found) -> dict[str, Path]:
    """A page of each kind that the browser tests open."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    many = pa.table({f"x{number}": rng.normal(size=100_000).astype(np.float32) for number in range(6)})
    wide = pa.table({f"a column with a long name, number {number}": rng.normal(size=60) for number in range(500)})
    calm = pa.table({"size": [1.0, 2.0] * 100, "kind": ["a", "b"] * 100})
    found = {
        "orders": orders_found,
        "nasty": detection_report(fitted(nasty_table()), nasty_table(), ids=[NASTY_NAME]),
        "calm": detection_report(fitted(calm), calm),
        "one_row": detection_report(fitted(calm), calm.slice(0, 1)),
        "many_rows": detection_report(fitted(many), many),
        "many_columns": detection_report(fitted(wide, n_steps=20), wide, n_top=20),
        "clusters": cluster_report(TableModel(RDPClusterer(4, random_state=0)).fit(arch()), arch()),
    }
    for name, dictionary in found.items():
        write_page(json.loads(json.dumps(dictionary)), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """One headless browser with an empty profile, which records what it loads and what it complains of."""
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install --group dev")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = browser
    profile = tmp_path_factory.mktemp("profile")
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "no-first-run",
        f"user-data-dir={profile}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = selenium.Chrome(options=options, service=Service(driver))
    opened.command_executor.client_config.timeout = 600  # a busy machine is slow, not broken
    opened.set_page_load_timeout(600)
    opened.set_script_timeout(600)
    yield opened
    opened.quit()


@pytest.fixture
def browse(chromium):
    """Opens a page in a window of a size; afterwards sees that it loaded nothing and complained of nothing."""

    def open_page(path: Path, *, width: int = 1280, height: int = 900, scheme: str = "light"):
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
        chromium.get_log("performance")
        chromium.get(path.as_uri())
        wait_until(chromium, f"return location.href === '{path.as_uri()}' && document.readyState === 'complete'")
        return chromium

    yield open_page
    assert complaints(chromium) == []
    assert requests(chromium) == []


def patience(chromium):
    """What waits for the browser; a busy machine may need its time."""
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(chromium, 300, poll_frequency=0.05)


def wait_until(chromium, script: str) -> None:
    """Wait until a script answers yes."""
    patience(chromium).until(lambda browser: browser.execute_script(script))


def complaints(chromium) -> list[str]:
    """Warnings and errors of the page so far: those that came before a mark in the log, which is waited for."""
    mark = f"mark {time.monotonic_ns()}"
    entries = []

    def has_arrived(browser) -> bool:
        entries.extend(browser.get_log("browser"))
        return any(mark in entry["message"] for entry in entries)

    chromium.execute_script("console.info(arguments[0])", mark)
    patience(chromium).until(has_arrived)
    return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]


def requests(chromium) -> list[str]:
    """Addresses that the page has asked for, other than its own file and data within it; ask for complaints first."""
    messages = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    sent = [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
    return [address for address in sent if not address.startswith(("file:", "data:", "blob:", "about:", "chrome:"))]

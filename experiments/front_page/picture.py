"""The README's picture: the report of the table that comes with rdplearn, light and dark, from a real browser."""

from __future__ import annotations

import base64
import io
import shutil
import tempfile
from pathlib import Path

SIZE = 1180, 850
TOP_MARGIN = 40
COLOURS = 64


def take_pictures(folder: Path) -> list[Path]:
    """Write report_light.png and report_dark.png. Needs Chromium with its driver, Selenium and Pillow."""
    import rdplearn
    from rdplearn.table import example_table

    detector = rdplearn.RDPDetector(contamination=0.04, random_state=0)  # as in `rdplearn demo`
    model = rdplearn.TableModel(detector).fit(example_table())
    with tempfile.TemporaryDirectory() as temporary:
        page = Path(temporary) / "report.html"
        rdplearn.write_report(model, example_table(), page)
        return [_picture(page, scheme, folder / f"report_{scheme}.png") for scheme in ("light", "dark")]


def _picture(page: Path, scheme: str, path: Path) -> Path:
    from PIL import Image
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(page.as_uri())
        width, height = SIZE
        clip = {"x": 0, "y": TOP_MARGIN, "width": width, "height": height, "scale": 1}
        metrics = {"width": width, "height": height + TOP_MARGIN, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    finally:
        browser.quit()
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(COLOURS).save(path, optimize=True)
    return path

"""The wheel in an environment that has nothing else: `make test-wheel`.

python tests/wheel.py rdplearn.whl            without extras: the README's example, the demo, the command line
python tests/wheel.py rdplearn.whl onnx sql   with each of these extras alone: the code of its page

Every environment is made anew, and everything runs in an empty folder, so that the clone is not seen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = {
    "": "README.md",
    "distributed": "docs/distributed.md",
    "onnx": "docs/onnx.md",
    "serve": "docs/serving.md",
    "sql": "docs/sql.md",
    "torch": "docs/torch.md",
}
OWN_TARGETS = ("mlflow", "spark", "experiments")  # `make test-mlflow`, `make test-spark`, `make test`
RUN_PAGE = """
import re, sys, rdplearn
assert "site-packages" in rdplearn.__file__, rdplearn.__file__
names = {}
for block in re.findall("```python\\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), flags=re.DOTALL):
    exec(compile(block, sys.argv[1], "exec"), names)
"""
RAW = "http://schemas.openxmlformats.org"
WORKBOOK = {  # the least that a workbook is: two columns, five rows
    "[Content_Types].xml": f'<Types xmlns="{RAW}/package/2006/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{RAW}/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{RAW}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{RAW}/spreadsheetml/2006/main" xmlns:r="{RAW}/officeDocument/2006/'
    'relationships"><sheets><sheet name="people" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RAW}/package/2006/relationships"><Relationship Id="r1" '
    f'Type="{RAW}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{RAW}/spreadsheetml/2006/main"><sheetData>'
    '<row><c t="inlineStr"><is><t>age</t></is></c><c t="inlineStr"><is><t>height</t></is></c></row>'
    + "".join(f"<row><c><v>{30 + row % 7}</v></c><c><v>{160 + row % 11}</v></c></row>" for row in range(50))
    + "</sheetData></worksheet>",
}


def main(wheel: Path, extras: list[str]) -> None:
    """Test the wheel with each of the extras, or with none."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(known) == {*PAGES, "excel", *OWN_TARGETS} - {""}, "an extra has no page here, and no target of its own"
    for extra in extras or [""]:
        with tempfile.TemporaryDirectory() as folder:
            test(wheel, extra, Path(folder))
        told = f"with [{extra}] alone" if extra else "without extras"
        sys.stdout.write(f"The wheel {told}: all well.\n")


def test(wheel: Path, extra: str, folder: Path) -> None:
    """One environment and what is run in it."""
    venv.create(folder / "env", with_pip=True)
    python, rdplearn = folder / "env" / "bin" / "python", folder / "env" / "bin" / "rdplearn"
    (folder / "empty").mkdir()

    def run(*words: object) -> str:
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(("PYTHON", "RDPLEARN"))}
        done = subprocess.run(
            [str(word) for word in words], cwd=folder / "empty", env=kept, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}:\n{done.stdout}{done.stderr}"
        return done.stdout

    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if extra == "torch":  # the exact version first: a range would fetch gigabytes of GPU libraries
        run(*pip, next(line for line in (ROOT / "constraints.txt").read_text().split() if line.startswith("torch==")))
    run(*pip, f"{wheel.resolve()}[{extra}]" if extra else wheel.resolve())
    if extra == "":
        command_line(run, rdplearn)
    if extra == "excel":
        with zipfile.ZipFile(folder / "empty" / "people.xlsx", "w") as workbook:
            for name, content in WORKBOOK.items():
                workbook.writestr(name, content)
        assert "50" in run(rdplearn, "inspect", "people.xlsx")
    else:
        run(python, "-W", "ignore", "-c", RUN_PAGE, ROOT / PAGES[extra])


def command_line(run: object, rdplearn: Path) -> None:
    """The commands that need no extra."""
    assert "penguins" in run(rdplearn, "demo", "-o", "penguins.csv")
    run(rdplearn, "inspect", "penguins.csv")
    run(rdplearn, "detect", "penguins.csv", "-o", "scores.parquet", "--report", "report.html", "-m", "model")
    run(rdplearn, "score", "model", "penguins.csv", "-o", "scores.csv")
    run(rdplearn, "explain", "model", "penguins.csv", "--row", "4")
    run(rdplearn, "watch", "model", "penguins.csv")
    run(rdplearn, "embed", "penguins.csv", "-o", "features.csv")
    run(rdplearn, "cluster", "penguins.csv", "-k", "3", "-o", "groups.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

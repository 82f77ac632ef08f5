"""What the README and the pages say runs as it stands."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import rdplearn
from tests.test_public_names import PUBLIC

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    "docs/getting_started.md",
    "docs/detector.md",
    "docs/representation.md",
    "docs/explanations.md",
    "docs/feedback.md",
    "docs/distributed.md",
    "docs/report.md",
    "docs/watch.md",
    "docs/serving.md",
    "docs/torch.md",
    "docs/onnx.md",
    "docs/sql.md",
]
NEEDED = {
    "docs/torch.md": ["torch"],
    "docs/onnx.md": ["onnx", "onnxruntime"],
    "docs/distributed.md": ["distributed"],
    "docs/sql.md": ["adbc_driver_sqlite", "duckdb"],
    "docs/serving.md": ["fastapi"],
}


def code_blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    for package in NEEDED.get(page, ()):
        pytest.importorskip(package, reason=f"{page} is about {package}")
    monkeypatch.chdir(tmp_path)  # some of it writes files
    blocks = code_blocks(page)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_page_on_answers_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    said = []
    for block in code_blocks("docs/feedback.md"):
        exec(compile(block, "docs/feedback.md", "exec"), names)
        said += re.findall(r"^print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert said == capsys.readouterr().out.splitlines()
    assert len(said) == 3


@pytest.mark.parametrize(
    "page", [str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))]
)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
        assert ((ROOT / page).parent / target).exists(), target


def test_the_readme_names_the_commands_of_the_makefile():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = set(re.findall(r"make (\w+)", (ROOT / "README.md").read_text()))
    assert {"demo", "test"} <= named <= {*targets}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(module):
    sections = (ROOT / "docs/reference.rst").read_text().split(".. currentmodule:: ")
    listed = {
        section.split()[0]: set(re.findall(r"^   (\w+)$|:: (\w+)$", section, re.MULTILINE)) for section in sections
    }
    here, everyday = ({name for pair in listed[where] for name in pair} for where in (module, "rdplearn"))
    assert set(PUBLIC[module].split()) <= here | everyday


def test_every_page_is_in_a_table_of_contents():
    pages = {path.stem for path in ROOT.glob("docs/*.md")} | {"reference"}
    trees = "".join(
        re.findall(r"```{toctree}(.*?)```", "".join(p.read_text() for p in ROOT.glob("docs/*.md")), re.DOTALL)
    )
    assert pages - set(trees.split()) == {"index"}


def test_ci_runs_what_the_readme_promises():
    assert "make test" in (ROOT / ".ci/run").read_text()


def test_hooks_have_the_ruff_of_the_tests():
    hooks, pinned = ((ROOT / name).read_text() for name in (".pre-commit-config.yaml", "constraints.txt"))
    assert re.findall(r"ruff-pre-commit\n    rev: v(.+)", hooks) == re.findall(r"^ruff==(.+)$", pinned, re.MULTILINE)


def test_the_version_is_the_same_everywhere():
    version = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version == [rdplearn.__version__]
    assert f"version: {rdplearn.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {rdplearn.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_the_source_distribution_has_all_of_the_repository():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = {*project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"], "pyproject.toml", ".gitignore"}
    assert {line.split("/")[0] for line in listed.splitlines()} == included


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    yaml = pytest.importorskip("yaml", reason="the recipe is YAML")
    recipe = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {*project["dependencies"], f"python{project['requires-python']}"}
    assert {line.replace(" ", "") for line in recipe["requirements"]["run"]} == needed
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["summary"] == project["description"]
    scripts = [f"{name} = {where}" for name, where in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts

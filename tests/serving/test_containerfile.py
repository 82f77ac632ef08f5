"""The Containerfile, as far as it can be looked at without a builder: what it copies, who it runs as, what it runs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def values(name: str) -> list[str]:
    return [value for instruction, value in instructions() if instruction == name]


def test_what_it_copies_is_there_and_not_ignored():
    copied = [path for value in values("COPY") if "--from" not in value for path in value.split()[:-1]]
    kept = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), flags=re.MULTILINE)
    assert sorted(copied) == sorted(kept)
    assert all((ROOT / path).exists() for path in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {project["readme"], *project["license-files"]} <= set(copied)
    assert "serve" in project["optional-dependencies"]


def test_it_runs_without_the_rights_of_root():
    names = [name for name, _ in instructions()]
    assert values("USER") == ["10001:10001"]
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])


def test_what_it_runs_is_a_command_of_ours(run: Run):  # noqa: F811
    program, *words = json.loads(values("ENTRYPOINT")[0])
    assert program == "rdplearn"
    (model,) = json.loads(values("CMD")[0])
    assert f"Cannot read '{model}'" in run(*words, model, exit_code=1).output
    assert values("EXPOSE") == [words[-1]]
    check = values("HEALTHCHECK")[0]
    assert f":{words[-1]}/v2/health/ready" in check
    compile(json.loads(check.split("CMD ")[1])[2], "HEALTHCHECK", "exec")

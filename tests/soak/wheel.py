"""The wheel in empty environments: without extras the README, the demo and the commands work; then each extra alone.

`make test-wheel`, or python -m tests.soak.wheel [EXTRA ...]; "none" is the environment without extras.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = "import numpy as np; X = np.random.default_rng(0).normal(size=(200, 5)); from rdplearn import RDPDetector; "
USES = {
    "distributed": ROWS + "import dask.array as da; import rdplearn; d = RDPDetector(n_members=2, n_steps=20).fit(X); "
    "print(d.score_samples(da.from_array(X, chunks=(50, 5))).compute().shape)",
    "torch": ROWS
    + "from rdplearn import TorchOptions; d = RDPDetector(n_members=2, n_steps=20, engine='torch').fit(X); "
    "print(d.score_samples(X).shape)",
    "onnx": ROWS + "import rdplearn, onnxruntime; d = RDPDetector(n_members=2, n_steps=20).fit(X); "
    "rdplearn.export_onnx(d, 'm.onnx'); print(len(onnxruntime.InferenceSession('m.onnx').get_outputs()))",
}


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))[:300]}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def example() -> str:
    """The first block of Python in the README."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return blocks[0]


def environment(folder: Path, wheel: Path, extra: str | None) -> Path:
    """An environment with the wheel and nothing else; PyTorch in the exact version of the constraints."""
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    asked = f"{wheel}[{extra}]" if extra else str(wheel)
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", asked, cwd=folder)
    return python


def check_without_extras(folder: Path, wheel: Path) -> None:
    python = environment(folder, wheel, None)
    run(python, "-W", "error::DeprecationWarning:rdplearn", "-c", example(), cwd=folder)
    program = python.with_name("rdplearn")
    run(program, "demo", cwd=folder)
    rows = "\n".join(f"{place},{place % 7},{'Oslo' if place % 3 else 'Rome'}" for place in range(300))
    (folder / "t.csv").write_text(f"key,x,city\n{rows}\n")
    run(program, "fit", "t.csv", "-m", "m", "--id", "key", "-q", cwd=folder)
    run(program, "score", "m", "t.csv", "-o", "s.parquet", "-q", cwd=folder)
    run(program, "report", "m", "t.csv", "-o", "r.html", "-q", cwd=folder)
    for command in ("detect", "inspect", "embed", "cluster"):
        run(program, command, "t.csv", "-q", cwd=folder)
    missing = subprocess.run([program, "export", "m", "-o", "m.onnx"], cwd=folder, capture_output=True, text=True)
    if missing.returncode != 1 or "rdplearn[onnx]" not in missing.stderr:
        raise SystemExit(f"export without its extra does not say what to install: {missing.stderr}")


def main() -> None:
    asked = sys.argv[1:] or ["none", *USES]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
        (wheel,) = folder.glob("rdplearn-*.whl")
        for extra in asked:
            below = folder / extra
            below.mkdir()
            if extra == "none":
                check_without_extras(below, wheel)
            else:
                run(environment(below, wheel, extra), "-c", USES[extra], cwd=below)
            print(f"{extra}: works")  # noqa: T201


if __name__ == "__main__":
    main()

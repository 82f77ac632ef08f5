"""From the public file to the paper's matrix: one function a source, stating the paper's preprocessing.

Each takes the downloaded files in the order of the set's sources and gives `(rows, labels)`: rows scaled to
[0, 1] where the paper scales, labels 1 for an anomaly, or the class.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_files
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

Rows = np.ndarray | sp.csr_array
Table = tuple[Rows, np.ndarray]

PROBE = frozenset({"ipsweep", "mscan", "nmap", "portsweep", "saint", "satan"})
U2R = frozenset({"buffer_overflow", "httptunnel", "loadmodule", "perl", "ps", "rootkit", "sqlattack", "xterm"})
# protocol_type, service, flag, land, logged_in, is_host_login, is_guest_login: the paper keeps 34 of 41
_KDD99_DROPPED = (1, 2, 3, 6, 11, 20, 21)
_KDD99_LABEL = 41

# age, wage per hour, capital gains and losses, dividends, number of persons worked for, weeks worked
_CENSUS_NUMERIC = (0, 5, 16, 17, 18, 30, 39)
_CENSUS_WEIGHT, _CENSUS_LABEL = 24, 41

_BANK_NUMERIC = (
    "age", "duration", "campaign", "pdays", "previous",
    "emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed",
)  # fmt: skip


def labelled_csv(files: Sequence[Path]) -> Table:
    """Read a CSV with header whose column `class` is 1 for an anomaly (the authors' own files); min-max."""
    frame = pd.read_csv(io.BytesIO(unpacked(files[0], ".csv")))
    return min_max(frame.drop(columns="class").to_numpy(np.float64)), frame["class"].to_numpy(np.int8)


def adbench_archive(files: Sequence[Path]) -> Table:
    """Read `X` and `y` of an ADBench file; min-max."""
    with np.load(files[0], allow_pickle=False) as parts:
        return min_max(parts["X"].astype(np.float64)), parts["y"].astype(np.int8)


def internet_advertisements(files: Sequence[Path]) -> Table:
    """Keep the 1,555 binary columns of UCI's ad.data; missing values (all in `local`) become the mode."""
    frame = pd.read_csv(
        io.BytesIO(unpacked(files[0], "ad.data")),
        header=None,
        skipinitialspace=True,
        na_values="?",
        low_memory=False,
    )
    labels = (frame.iloc[:, -1].str.strip() == "ad.").to_numpy(np.int8)
    binary = frame.iloc[:, 3:-1].astype(np.float64)  # without height, width, aratio
    return sp.csr_array(binary.fillna(binary.mode().iloc[0]).to_numpy(np.float32)), labels


def bank_marketing(files: Sequence[Path]) -> Table:
    """One-hot encode UCI's bank-additional-full.csv (10 numeric + 52 binary columns); anomalies said yes."""
    frame = pd.read_csv(io.BytesIO(unpacked(files[0], "bank-additional-full.csv")), sep=";")
    labels = (frame.pop("y") == "yes").to_numpy(np.int8)
    return nominal_to_binary(frame, _BANK_NUMERIC).toarray(), labels


def census_income(files: Sequence[Path]) -> Table:
    """Stack UCI's two parts without the instance weight, one-hot; anomalies earn 50,000 or more."""
    parts = [
        pd.read_csv(
            io.BytesIO(unpacked(file, "")),
            header=None,
            skipinitialspace=True,
            dtype=str,
            keep_default_na=False,
        )
        for file in files
    ]
    frame = pd.concat(parts, ignore_index=True)
    labels = frame.pop(_CENSUS_LABEL).str.startswith("50000+").to_numpy(np.int8)
    return nominal_to_binary(frame.drop(columns=_CENSUS_WEIGHT), _CENSUS_NUMERIC), labels


def credit_card(files: Sequence[Path]) -> Table:
    """Keep V1..V28 and Amount (not Time); min-max."""
    frame = pd.read_csv(files[0])
    labels = frame.pop("Class").to_numpy(np.int8)
    return min_max(frame.drop(columns="Time").to_numpy(np.float64)), labels


def kdd99(files: Sequence[Path], attacks: Collection[str]) -> Table:
    """Keep normal connections and the given attacks of the corrected test file, 34 columns; min-max."""
    frame = pd.read_csv(io.BytesIO(unpacked(files[0], "")), header=None)
    kinds = frame.pop(_KDD99_LABEL).str.rstrip(".")
    kept = kinds.isin({"normal", *attacks}).to_numpy()
    columns = frame.drop(columns=list(_KDD99_DROPPED)).to_numpy(np.float64)
    return min_max(columns[kept]), (kinds[kept] != "normal").to_numpy(np.int8)


def secom(files: Sequence[Path]) -> Table:
    """Fill missing sensor values with the column's mean; min-max; constant columns become 0."""
    readings = np.loadtxt(io.BytesIO(unpacked(files[0], "secom.data")))
    failed = [line.split()[0] == b"1" for line in unpacked(files[0], "secom_labels.data").splitlines() if line.strip()]
    means = np.nanmean(readings, axis=0)
    return min_max(np.where(np.isnan(readings), means, readings)), np.array(failed, np.int8)


def r8_texts(files: Sequence[Path]) -> tuple[list[str], np.ndarray]:
    """Read the stemmed R8 documents and the names of their classes."""
    frame = pd.read_csv(io.BytesIO(unpacked(files[0], ".txt")), keep_default_na=False)
    return frame["corpus"].tolist(), frame["class"].to_numpy(str)


def r8_clustering(files: Sequence[Path]) -> Table:
    """TF-IDF of all eight classes, scikit-learn's defaults, as the authors' clustering code does it."""
    texts, classes = r8_texts(files)
    return _sparse(TfidfVectorizer().fit_transform(texts)), np.unique(classes, return_inverse=True)[1]


def r8_anomaly(files: Sequence[Path]) -> Table:
    """TF-IDF of the classes earn (normal) and grain (anomalies), vocabulary of those rows alone."""
    texts, classes = r8_texts(files)
    kept = [(text, name == "grain") for text, name in zip(texts, classes, strict=True) if name in ("earn", "grain")]
    return _sparse(TfidfVectorizer().fit_transform(text for text, _ in kept)), np.array([y for _, y in kept], np.int8)


def newsgroups_texts(files: Sequence[Path]) -> tuple[list[str], list[str], np.ndarray]:
    """Read train texts, test texts and classes (train first) of the archive, in scikit-learn's order."""
    texts: dict[str, list[str]] = {"train": [], "test": []}
    groups: dict[str, list[str]] = {"train": [], "test": []}
    with tarfile.open(files[0]) as archive:
        for member in sorted((m for m in archive.getmembers() if m.isfile()), key=lambda m: m.name):
            folder, group, _ = Path(member.name).parts[-3:]
            part = folder.rpartition("-")[2]
            texts[part].append(archive.extractfile(member).read().decode("latin-1"))
            groups[part].append(group)
    classes = np.unique(groups["train"] + groups["test"], return_inverse=True)[1]
    return texts["train"], texts["test"], classes


def newsgroups(files: Sequence[Path]) -> Table:
    """Word counts over the training vocabulary, rows of length 1: fetch_20newsgroups_vectorized("all")."""
    train, test, classes = newsgroups_texts(files)
    vectorizer = CountVectorizer(dtype=np.int16)
    counts = sp.vstack([vectorizer.fit_transform(train), vectorizer.transform(test)])
    return _sparse(normalize(counts.astype(np.float64))), classes


def olivetti(files: Sequence[Path]) -> Table:
    """Scale all pixels together to [0, 1]; 40 people with 10 pictures each."""
    from scipy.io import loadmat

    faces = loadmat(files[0])["faces"].T.astype(np.float32)
    faces -= faces.min()
    faces /= faces.max()
    side = round(faces.shape[1] ** 0.5)
    upright = faces.reshape(-1, side, side).transpose(0, 2, 1)
    return upright.reshape(len(faces), -1), np.arange(len(faces)) // 10


def libsvm_parts(files: Sequence[Path], n_columns: int | None = None) -> Table:
    """Stack libsvm files of the same columns, in the order given; `n_columns` where their last ones are empty."""
    parts = load_svmlight_files([io.BytesIO(unpacked(file, "")) for file in files], n_features=n_columns)
    rows, labels = sp.vstack(parts[0::2]), np.concatenate(parts[1::2])
    return _sparse(rows), np.unique(labels, return_inverse=True)[1]


def min_max(columns: np.ndarray) -> np.ndarray:
    """Scale each column to [0, 1]; a constant column becomes 0."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    return ((columns - low) / np.where(high > low, high - low, 1.0)).astype(np.float32)


def nominal_to_binary(frame: pd.DataFrame, numeric: Collection[str | int]) -> sp.csr_array:
    """One-hot encode as WEKA's NominalToBinary: two values give one column; a missing `?` gives none.

    Numeric columns are min-max scaled. Column order is that of the frame.
    """
    blocks = []
    for name in frame.columns:
        if name in numeric:
            blocks.append(sp.csr_array(min_max(frame[[name]].to_numpy(np.float64))))
            continue
        values = frame[name].str.strip()
        known = sorted(set(values) - {"?"})
        shown = known[1:] if len(known) == 2 else known
        blocks.append(sp.csr_array((values.to_numpy(str)[:, None] == np.array(shown)).astype(np.float32)))
    return sp.csr_array(sp.hstack(blocks))


def unpacked(file: Path | tuple[str, bytes], ending: str) -> bytes:
    """Give the content of the first file with this ending inside any nesting of zip, tar, gz, bz2 and xz."""
    name, content = file if isinstance(file, tuple) else (file.name, file.read_bytes())
    found = _search(name, content, ending)
    if found is None:
        raise ValueError(f"{name} holds no file that ends in {ending!r}.")
    return found


def _search(name: str, content: bytes, ending: str) -> bytes | None:
    stem, _, suffix = name.rpartition(".")
    decompress = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}.get(suffix)
    if decompress:
        return _search(stem, decompress(content), ending)
    if suffix == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(n, archive.read(n)) for n in archive.namelist() if not n.endswith("/")]
    elif suffix == "tar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = [(m.name, archive.extractfile(m).read()) for m in archive.getmembers() if m.isfile()]
    else:
        return content if name.endswith(ending) else None
    return next((found for n, c in members if (found := _search(n, c, ending)) is not None), None)


def _sparse(matrix: sp.spmatrix | sp.sparray) -> sp.csr_array:
    return sp.csr_array(matrix, dtype=np.float32)

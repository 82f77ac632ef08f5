"""The paper's 19 data sets by name, and the development sets, each checked against what the paper says of it.

A set is looked up in the folder of the environment variable RDPLEARN_DATA, if it is set, then in the cache; if it is
in neither, its public source is downloaded, turned into the paper's matrix (`preprocessing.py`) and cached. A set that
cannot be had raises `NoDataError`.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from experiments import gallery, small_sets
from experiments import preprocessing as prep
from experiments.downloads import NoDataError, Opener, Source, fetch, file_sha256, write_atomically
from experiments.preprocessing import Rows, Table

__all__ = ["CLUSTERING", "DETECTION", "DataSet", "LoadedData", "NoDataError", "load", "load_texts", "names"]


REPOSITORY = Path(__file__).resolve().parent.parent
_RDP = "https://raw.githubusercontent.com/billhhh/RDP"
_ADBENCH = (
    "https://raw.githubusercontent.com/Minqi824/ADBench/f7fed68dea6901fe9a81ed51b251b1d2456790cd/"
    "adbench/datasets/Classical"
)
_UCI = "https://archive.ics.uci.edu"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"

_R8 = Source(f"{_RDP}/a0dac0a0070832c86230902d9c43edb2d389b858/RDP-Clustering/data/r8-all-stemmed.txt", "r8.txt")
_KDD99 = Source("http://kdd.ics.uci.edu/databases/kddcup99/corrected.gz", "kddcup99-corrected.gz")
_NEWS = Source(
    "https://ndownloader.figshare.com/files/5975967",
    "20news-bydate.tar.gz",
    "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)


@dataclass(frozen=True)
class DataSet:
    """What the paper says of a set, and where it comes from.

    `anomaly_percent` is for detection, `n_classes` for clustering; the other is None. `sparse` sets are given
    as CSR.
    """

    name: str
    title: str
    n_rows: int
    n_columns: int
    sources: tuple[Source, ...]
    prepare: Callable[[Sequence[Path]], Table]
    anomaly_percent: float | None = None
    n_classes: int | None = None
    sparse: bool = False


@dataclass(frozen=True)
class LoadedData:
    """A table with its labels (for evaluation only) and the checksum of the file that it came from."""

    name: str
    rows: Rows
    labels: np.ndarray
    sha256: str


def _detection_sets() -> list[DataSet]:
    rdp = f"{_RDP}/613feacfd89f978acaa92e192612e05dc698b8a2/RDP-Anomaly/data"
    census = f"{_UCI}/ml/machine-learning-databases/census-income-mld"
    return [
        DataSet("ddos", "DDoS", 464_976, 66,
                (Source("http://www.csmining.org/cdmc2018/index.php", "ddos.csv", by_hand=True),),
                prep.labelled_csv, 3.75),
        DataSet("donors", "Donors", 619_326, 10,
                (Source(f"{_ADBENCH}/11_donors.npz", "11_donors.npz"),), prep.adbench_archive, 5.92),
        DataSet("backdoor", "Backdoor", 95_329, 196,
                (Source("https://raw.githubusercontent.com/GuansongPang/ADRepository-Anomaly-detection-datasets/"
                        "875e2afa52250db6dc1c716d7fbbaf7f2db45c76/numerical%20data/DevNet%20datasets/"
                        "UNSW_NB15_traintest_backdoor.tar.xz", "UNSW_NB15_traintest_backdoor.tar.xz"),),
                prep.labelled_csv, 2.44),
        DataSet("ad", "Ad", 3_279, 1_555,
                (Source(f"{_UCI}/static/public/51/internet+advertisements.zip", "ad.zip"),),
                prep.internet_advertisements, 13.99, sparse=True),
        DataSet("apascal", "Apascal", 12_695, 64,
                (Source(f"{rdp}/apascal.csv", "apascal.csv"),), prep.labelled_csv, 1.38),
        DataSet("bank", "Bank", 41_188, 62,
                (Source(f"{_UCI}/static/public/222/bank+marketing.zip", "bank_marketing.zip"),),
                prep.bank_marketing, 11.26),
        DataSet("celeba", "Celeba", 202_599, 39,
                (Source(f"{_ADBENCH}/8_celeba.npz", "8_celeba.npz"),), prep.adbench_archive, 2.24),
        DataSet("census", "Census", 299_285, 500,
                (Source(f"{census}/census-income.data.gz", "census-income.data.gz"),
                 Source(f"{census}/census-income.test.gz", "census-income.test.gz")),
                prep.census_income, 6.20, sparse=True),
        DataSet("creditcard", "Creditcard", 284_807, 29,
                (Source("https://storage.googleapis.com/download.tensorflow.org/data/creditcard.csv",
                        "creditcard.csv",
                        "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89"),),
                prep.credit_card, 0.17),
        DataSet("lung", "Lung", 145, 3_312,
                (Source(f"{rdp}/lung-1vs5.csv", "lung-1vs5.csv"),), prep.labelled_csv, 4.13),
        DataSet("probe", "Probe", 64_759, 34, (_KDD99,),
                functools.partial(prep.kdd99, attacks=prep.PROBE), 6.43),
        DataSet("r8_anomaly", "R8", 3_974, 9_467, (_R8,), prep.r8_anomaly, 1.28, sparse=True),
        DataSet("secom", "Secom", 1_567, 590,
                (Source(f"{_UCI}/static/public/179/secom.zip", "secom.zip"),), prep.secom, 6.63),
        DataSet("u2r", "U2R", 60_821, 34, (_KDD99,),
                functools.partial(prep.kdd99, attacks=prep.U2R), 0.37),
    ]  # fmt: skip


def _clustering_sets() -> list[DataSet]:
    sector, rcv1 = f"{_LIBSVM}/multiclass/sector", f"{_LIBSVM}/binary"
    return [
        DataSet("r8_clustering", "R8", 7_674, 17_387, (_R8,), prep.r8_clustering, n_classes=8, sparse=True),
        DataSet("20news", "20news", 18_846, 130_107, (_NEWS,), prep.newsgroups, n_classes=20, sparse=True),
        DataSet("olivetti", "Olivetti", 400, 4_096,
                (Source("https://ndownloader.figshare.com/files/5976027", "olivettifaces.mat",
                        "b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794"),),
                prep.olivetti, n_classes=40),
        DataSet("sector", "Sector", 9_619, 55_197,
                (Source(f"{sector}/sector.scale.bz2", "sector.scale.bz2"),
                 Source(f"{sector}/sector.t.scale.bz2", "sector.t.scale.bz2")),
                prep.libsvm_parts, n_classes=105, sparse=True),
        DataSet("rcv1", "RCV1", 20_242, 47_236,
                (Source(f"{rcv1}/rcv1_train.binary.bz2", "rcv1_train.binary.bz2"),),
                prep.libsvm_parts, n_classes=2, sparse=True),
    ]  # fmt: skip


# What of Sector can be had: its held-out and test parts. The paper's numbers are of all rows, and not beside these.
SECTOR_PART = DataSet(
    "sector_part", "Sector, 1,826 of 9,619 rows", 1_826, 55_197,
    (Source(f"{_LIBSVM}/multiclass.html", "sector.heldout", by_hand=True),
     Source(f"{_LIBSVM}/multiclass.html", "sector.test", by_hand=True)),
    functools.partial(prep.libsvm_parts, n_columns=55_197), n_classes=105, sparse=True,
)  # fmt: skip
MADE_HERE = {**small_sets.SETS, **gallery.SETS}  # these need no file
DETECTION = {data_set.name: data_set for data_set in _detection_sets()}
CLUSTERING = {data_set.name: data_set for data_set in _clustering_sets()}


def names(group: str) -> list[str]:
    """List the sets of a group.

    Groups are "detection", "clustering", "sklearn" (small), "gallery" (shapes), "adbench", "oddbench", "ovrbench".

    Examples
    --------
    >>> names("clustering")
    ['r8_clustering', '20news', 'olivetti', 'sector', 'rcv1']
    """
    if group in ("adbench", "oddbench", "ovrbench"):
        return sorted(f"{group}/{path.stem}" for path in (data_folder() / group).glob("*.npz"))
    known = {"detection": DETECTION, "clustering": CLUSTERING, "sklearn": small_sets.SETS, "gallery": gallery.SETS}
    return list(known[group])


def load(name: str, opener: Opener | None = None) -> LoadedData:
    """Load a set of the paper ("bank"), of development ("adbench/glass"), small ("sklearn/wine") or made up.

    "gallery/ring_0" is the ring of the gallery, drawn with seed 0.
    "20news_idf" is the paper's 20news with words weighted by their inverse document frequency.
    """
    if name in MADE_HERE:
        rows, labels = MADE_HERE[name]()
        return LoadedData(name, rows, labels, hashlib.sha256(rows.tobytes() + labels.tobytes()).hexdigest())
    if name == "20news_idf":
        given = load("20news", opener)
        weighted = sp.csr_array(TfidfTransformer().fit_transform(given.rows), dtype=np.float32)
        return LoadedData(name, weighted, given.labels, given.sha256)
    if name == SECTOR_PART.name:
        files = [_raw_file(source, opener) for source in SECTOR_PART.sources]
        rows, labels = SECTOR_PART.prepare(files)
        check_against_paper(SECTOR_PART, rows, labels)
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        return LoadedData(name, sp.csr_array(rows, dtype=np.float32), labels, digest)
    known = {**DETECTION, **CLUSTERING}
    if name in known:
        path = _matrix_file(known[name], opener)
        rows, labels = _read_matrix(path)
        check_against_paper(known[name], rows, labels)
        if known[name].sparse:
            rows = sp.csr_array(rows)
    else:
        path = data_folder() / f"{name}.npz"
        if "/" not in name or not path.exists():
            raise NoDataError(f"There is no set {name!r} in the paper or in {data_folder()}.")
        rows, labels = _read_matrix(path)
    return LoadedData(name, rows, labels, file_sha256(path))


def title(name: str) -> str:
    """Give the name of a set as tables print it.

    Examples
    --------
    >>> title("r8_anomaly"), title("sector_part"), title("sklearn/wine")
    ('R8', 'Sector, 1,826 of 9,619 rows', 'sklearn/wine')
    """
    known = {**DETECTION, **CLUSTERING, SECTOR_PART.name: SECTOR_PART}
    return known[name].title if name in known else name


def is_known(name: str) -> bool:
    """Tell whether a set of this name exists, here or at its source.

    Examples
    --------
    >>> is_known("bank"), is_known("sklearn/wine"), is_known("foo")
    (True, True, False)
    """
    named = {*DETECTION, *CLUSTERING, *MADE_HERE, "20news_idf", SECTOR_PART.name}
    return name in named or ("/" in name and (data_folder() / f"{name}.npz").exists())


@functools.cache
def shape(name: str) -> tuple[int, int]:
    """Count the rows and columns of a set: the paper's from its tables, without loading it.

    Examples
    --------
    >>> shape("secom")
    (1567, 590)
    """
    known = {**DETECTION, **CLUSTERING}
    return (known[name].n_rows, known[name].n_columns) if name in known else load(name).rows.shape


def is_here(name: str) -> bool:
    """Tell whether a set can be loaded without downloading."""
    if name == SECTOR_PART.name:
        return all(any(path.exists() for path in _prepared(source)) for source in SECTOR_PART.sources)
    file_name = f"{name.removesuffix('_idf')}.npz"
    return name in MADE_HERE or any((folder / file_name).exists() for folder in (data_folder(), cache_folder()))


def texts_are_here(name: str) -> bool:
    """Tell whether the documents of a set can be loaded without downloading; its matrix alone may be here."""
    source = {"20news": _NEWS, "r8_clustering": _R8}.get(name)
    return source is None or any(path.exists() for path in (*_prepared(source), _downloads() / source.file_name))


def load_texts(name: str, opener: Opener | None = None) -> list[str]:
    """Load the documents of "r8_clustering" or "20news", in the order of the rows of that set."""
    if name == "20news":
        train, test, _ = prep.newsgroups_texts([_raw_file(_NEWS, opener)])
        return train + test
    if name == "r8_clustering":
        return prep.r8_texts([_raw_file(_R8, opener)])[0]
    if name == "sklearn/texts":
        return small_sets.texts()[0]
    raise NoDataError(f"The set {name!r} has no texts.")


def check_against_paper(data_set: DataSet, rows: Rows, labels: np.ndarray) -> None:
    """Raise ValueError if rows, columns, share of anomalies or number of classes are not the paper's."""
    found, expected = rows.shape, (data_set.n_rows, data_set.n_columns)
    if found != expected or len(labels) != expected[0]:
        raise ValueError(
            f"{data_set.title} must have {expected} rows and columns as in the paper. Got {found} instead."
        )
    if data_set.n_classes is not None:
        n_classes = len(np.unique(labels))
        if n_classes != data_set.n_classes:
            raise ValueError(f"{data_set.title} must have {data_set.n_classes} classes. Got {n_classes} instead.")
        return
    percent = 100 * float(np.mean(labels == 1))
    if abs(percent - data_set.anomaly_percent) >= 0.01:  # the paper cuts after the second digit
        raise ValueError(
            f"{data_set.title} must have {data_set.anomaly_percent} % anomalies. Got {percent:.3f} instead."
        )


def data_folder() -> Path:
    """Give the folder of prepared sets: RDPLEARN_DATA, and where that is not set the cache."""
    return Path(os.environ.get("RDPLEARN_DATA") or cache_folder())


def cache_folder() -> Path:
    """Give the folder of downloads: RDPLEARN_CACHE, by default `rdplearn` in the user's cache."""
    return Path(os.environ.get("RDPLEARN_CACHE", Path.home() / ".cache" / "rdplearn"))


def _matrix_file(data_set: DataSet, opener: Opener | None) -> Path:
    file_name = f"{data_set.name}.npz"
    for folder in (data_folder(), cache_folder()):
        if (folder / file_name).exists():
            return folder / file_name
    files = [_raw_file(source, opener) for source in data_set.sources]
    rows, labels = data_set.prepare(files)
    check_against_paper(data_set, rows, labels)
    path = cache_folder() / file_name
    with write_atomically(path) as file:
        np.savez_compressed(file, y=labels, **_parts(rows))
    return path


def _raw_file(source: Source, opener: Opener | None) -> Path:
    for path in _prepared(source):
        if path.exists():
            return path
    return fetch(source, _downloads(), opener)


def _prepared(source: Source) -> tuple[Path, Path]:
    return data_folder() / source.file_name, data_folder() / f"{source.file_name}.gz"


def _downloads() -> Path:
    return cache_folder() / "downloads"


def _parts(rows: Rows) -> dict[str, np.ndarray]:
    if not sp.issparse(rows):
        return {"X": rows}
    return {
        "X_data": rows.data,
        "X_indices": rows.indices,
        "X_indptr": rows.indptr,
        "X_shape": np.array(rows.shape),
    }


def _read_matrix(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as parts:
        labels = parts["y"].astype(np.int64)
        if "X" in parts:
            return parts["X"].astype(np.float32), labels
        indices = parts["X_indices"].astype(np.int32)
        csr = (parts["X_data"].astype(np.float32), indices, parts["X_indptr"].astype(np.int32))
        return sp.csr_array(csr, shape=tuple(parts["X_shape"])), labels

"""Data sets: found, downloaded, prepared as the paper says, checked, refused."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.downloads import NoDataError, Source, fetch, file_sha256
from experiments.paper_numbers import AUC_ROC, CLUSTERING_NMI
from experiments.study import plan

from experiments import datasets, tables
from experiments import preprocessing as prep


def zip_of(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def test_all_19_sets_are_listed_under_the_names_of_the_paper_tables():
    assert len(datasets.DETECTION) == 14
    assert len(datasets.CLUSTERING) == 5
    assert list(datasets.DETECTION) == list(AUC_ROC)
    assert list(datasets.CLUSTERING) == list(CLUSTERING_NMI)


def test_download_is_cached_and_checked(tmp_path):
    origin = tmp_path / "origin.csv"
    origin.write_bytes(b"a,b\n1,2\n")
    source = Source(origin.as_uri(), "copy.csv", file_sha256(origin))
    path = fetch(source, tmp_path / "cache")
    assert path.read_bytes() == origin.read_bytes()
    origin.unlink()
    assert fetch(source, tmp_path / "cache") == path


def test_download_with_wrong_checksum_leaves_nothing_behind(tmp_path):
    source = Source("http://example.org/x", "x.csv", "0" * 64)
    with pytest.raises(NoDataError, match=r"has sha256 .* expected 000"):
        fetch(source, tmp_path / "cache", lambda _: io.BytesIO(b"other"))
    assert list((tmp_path / "cache").iterdir()) == []


def test_interrupted_download_leaves_nothing_behind(tmp_path):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise ConnectionResetError("gone")

    with pytest.raises(NoDataError, match=r"could not be downloaded \(gone\)"):
        fetch(Source("http://example.org/x", "x.csv"), tmp_path / "cache", lambda _: Broken())
    assert list((tmp_path / "cache").iterdir()) == []


def test_file_behind_a_registration_page_is_asked_for(folders):
    with pytest.raises(NoDataError, match=r"ddos.csv has to be fetched by hand from http"):
        datasets.load("ddos")


def test_unknown_set_is_no_data(folders):
    with pytest.raises(NoDataError, match="no set 'nothing'"):
        datasets.load("nothing")


def test_set_is_prepared_once_and_then_read_from_the_cache(folders, monkeypatch):
    small = replace(
        datasets.DETECTION["apascal"], n_rows=4, n_columns=2, anomaly_percent=25.0,
        sources=(Source("http://example.org/a", "a.csv"),),
    )  # fmt: skip
    monkeypatch.setitem(datasets.DETECTION, "apascal", small)
    content = b"p,q,class\n0,5,0\n1,5,0\n2,5,0\n4,5,1\n"
    first = datasets.load("apascal", opener=lambda _: io.BytesIO(content))
    second = datasets.load("apascal", opener=None)
    np.testing.assert_array_equal(first.rows, np.float32([[0, 0], [0.25, 0], [0.5, 0], [1, 0]]))
    np.testing.assert_array_equal(first.rows, second.rows)
    assert first.labels.tolist() == [0, 0, 0, 1]
    assert first.sha256 == second.sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rows": 5}, r"must have \(5, 2\) rows and columns as in the paper. Got \(4, 2\)"),
        ({"anomaly_percent": 24.0}, "must have 24.0 % anomalies. Got 25.000"),
        ({"anomaly_percent": None, "n_classes": 3}, "must have 3 classes. Got 2"),
    ],
)
def test_a_set_that_is_not_the_paper_s_is_refused(change, message):
    known = replace(datasets.DETECTION["bank"], n_rows=4, n_columns=2, anomaly_percent=25.0)
    with pytest.raises(ValueError, match=message):
        datasets.check_against_paper(replace(known, **change), np.zeros((4, 2)), np.array([0, 0, 0, 1]))


def test_one_hot_gives_two_valued_columns_one_column_and_missing_none(tmp_path):
    lines = "age;job;contact;y\n20;a;x;no\n40;b;y;yes\n60;?;x;no\n30;c;y;no\n"
    inner = zip_of(**{"bank-additional/bank-additional-full__csv": lines.encode()})
    (tmp_path / "bank.zip").write_bytes(zip_of(**{"bank-additional__zip": inner}))
    rows, labels = prep.bank_marketing([tmp_path / "bank.zip"])
    expected = [[0, 1, 0, 0, 0], [0.5, 0, 1, 0, 1], [1, 0, 0, 0, 0], [0.25, 0, 0, 1, 1]]
    np.testing.assert_allclose(rows, expected)
    assert labels.tolist() == [0, 1, 0, 0]


def test_census_drops_the_weight_and_stacks_its_parts(tmp_path):
    fields = ["10"] * 42
    fields[1], fields[24] = " Private", "1700.09"
    other = fields.copy()
    other[0], other[1], other[41] = "73", " ?", " 50000+."
    fields[41] = " - 50000."
    for name, line in (("a.gz", fields), ("b.gz", other)):
        (tmp_path / name).write_bytes(gzip.compress(",".join(line).encode() + b"\n"))
    rows, labels = prep.census_income([tmp_path / "a.gz", tmp_path / "b.gz"])
    assert labels.tolist() == [0, 1]
    assert rows.shape == (2, 40)  # every nominal column has one known value here
    assert rows.toarray()[:, :2].tolist() == [[0, 1], [1, 0]]


def test_kdd99_keeps_normal_and_the_asked_attacks_on_34_columns(tmp_path):
    lines = [",".join(["1"] * 41 + [kind]) for kind in ("normal.", "nmap.", "smurf.", "perl.")]
    (tmp_path / "k.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    rows, labels = prep.kdd99([tmp_path / "k.gz"], attacks=prep.PROBE)
    assert rows.shape == (2, 34)
    assert labels.tolist() == [0, 1]


def test_ad_keeps_binary_columns_and_fills_with_the_mode(tmp_path):
    content = b"1,2,3,1,0,ad.\n?,?,?,?,1,nonad.\n4,5,6,1,0,nonad.\n"
    (tmp_path / "ad.zip").write_bytes(zip_of(ad__data=content))
    rows, labels = prep.internet_advertisements([tmp_path / "ad.zip"])
    assert rows.toarray().tolist() == [[1, 0], [1, 1], [1, 0]]
    assert labels.tolist() == [1, 0, 0]


def test_secom_fills_with_the_mean_and_zeroes_constants(tmp_path):
    archive = zip_of(secom__data=b"1 NaN 3\n3 4 3\n2 8 3\n", secom_labels__data=b'-1 "t"\n1 "t"\n-1 "t"\n')
    (tmp_path / "secom.zip").write_bytes(archive)
    rows, labels = prep.secom([tmp_path / "secom.zip"])
    np.testing.assert_allclose(rows, [[0, 0.5, 0], [1, 0, 0], [0.5, 1, 0]])
    assert labels.tolist() == [0, 1, 0]


def test_credit_card_drops_time(tmp_path):
    (tmp_path / "c.csv").write_text("Time,V1,Amount,Class\n0,1,2,0\n9,3,4,1\n")
    rows, labels = prep.credit_card([tmp_path / "c.csv"])
    assert rows.tolist() == [[0, 0], [1, 1]]
    assert labels.tolist() == [0, 1]


def test_r8_forms(tmp_path):
    text = "class,corpus\nearn,profit rise\nship,boat\ngrain,wheat corn\nearn,profit fall\n"
    (tmp_path / "r8.txt").write_text(text)
    rows, labels = prep.r8_clustering([tmp_path / "r8.txt"])
    assert rows.shape == (4, 6)
    assert labels.tolist() == [0, 2, 1, 0]
    rows, labels = prep.r8_anomaly([tmp_path / "r8.txt"])
    assert rows.shape == (3, 5)
    assert sp.issparse(rows)
    assert labels.tolist() == [0, 1, 0]


def test_newsgroups_vocabulary_is_that_of_the_training_part(tmp_path):
    with tarfile.open(tmp_path / "n.tar.gz", "w:gz") as archive:
        for name, text in (
            ("20news-bydate-train/sci.space/2", b"rocket rocket moon"),
            ("20news-bydate-test/sci.space/1", b"rocket unseen"),
            ("20news-bydate-train/alt.cars/1", b"engine"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    rows, labels = prep.newsgroups([tmp_path / "n.tar.gz"])
    assert labels.tolist() == [0, 1, 1]
    root = 5**-0.5  # columns: engine, moon, rocket
    np.testing.assert_allclose(rows.toarray(), [[1, 0, 0], [0, root, 2 * root], [0, 0, 1]], rtol=1e-6)


def test_libsvm_parts_are_stacked(tmp_path):
    (tmp_path / "a.bz2").write_bytes(bz2.compress(b"3 1:0.5 4:1\n7 2:2\n"))
    (tmp_path / "b.bz2").write_bytes(bz2.compress(b"3 3:1\n"))
    rows, labels = prep.libsvm_parts([tmp_path / "a.bz2", tmp_path / "b.bz2"])
    np.testing.assert_allclose(rows.toarray(), [[0.5, 0, 0, 1], [0, 2, 0, 0], [0, 0, 1, 0]])
    assert labels.tolist() == [0, 1, 0]


def test_olivetti_pictures_are_turned_upright(tmp_path):
    from scipy.io import savemat

    faces = np.arange(20 * 4).reshape(4, 20).astype(np.uint8)  # 4 pixels, 20 pictures
    savemat(tmp_path / "o.mat", {"faces": faces})
    rows, labels = prep.olivetti([tmp_path / "o.mat"])
    np.testing.assert_allclose(rows[0] * 79, [0, 40, 20, 60], rtol=1e-5)
    assert labels.tolist() == [0] * 10 + [1] * 10


def test_a_missing_member_of_an_archive_is_named(tmp_path):
    (tmp_path / "x.zip").write_bytes(zip_of(other__txt=b""))
    with pytest.raises(ValueError, match=r"x.zip holds no file that ends in 'ad.data'"):
        prep.internet_advertisements([tmp_path / "x.zip"])


@pytest.mark.parametrize("name", datasets.names("sklearn"))
def test_small_sets_need_no_file(name, folders):
    data = datasets.load(name)
    assert data.rows.shape[0] == len(data.labels)
    assert data.rows.min() >= 0
    assert data.rows.max() <= 1


here = pytest.mark.skipif(not datasets.is_here("bank"), reason="RDPLEARN_DATA holds no sets of the paper")


@here
@pytest.mark.data
@pytest.mark.parametrize("name", [*datasets.DETECTION, *datasets.CLUSTERING])
def test_sets_on_this_machine_are_the_paper_s(name):
    if not datasets.is_here(name):
        pytest.skip(f"{name} is not on this machine")
    data = datasets.load(name)
    assert sp.issparse(data.rows) == {**datasets.DETECTION, **datasets.CLUSTERING}[name].sparse
    assert data.rows.dtype == np.float32


@here
@pytest.mark.data
def test_r8_from_its_text_is_the_stored_matrix():
    source = datasets.data_folder() / "r8.txt.gz"
    for name, prepare in (("r8_clustering", prep.r8_clustering), ("r8_anomaly", prep.r8_anomaly)):
        rows, labels = prepare([source])
        stored = datasets.load(name)
        assert abs(rows - stored.rows).max() < 1e-6
        np.testing.assert_array_equal(labels, stored.labels)


@here
@pytest.mark.data
def test_development_sets_are_found():
    assert len(datasets.names("adbench")) == 19
    assert len(datasets.names("oddbench")) == 332
    assert len(datasets.names("ovrbench")) == 120
    assert len(plan.development_sets()) == 484
    assert datasets.load("adbench/glass").rows.shape == (214, 7)


@pytest.mark.data
def test_the_part_of_sector_that_is_here_says_how_much_it_is():
    if not datasets.is_here("sector_part"):
        pytest.skip("sector.heldout and sector.test are not in RDPLEARN_DATA")
    loaded = datasets.load("sector_part")
    assert loaded.rows.shape == (1_826, 55_197)
    assert len(np.unique(loaded.labels)) == 105
    assert "1,826 of 9,619 rows" in datasets.title("sector_part")
    assert not any("sector_part" in panel.paper for panel in tables.table("clustering").panels)

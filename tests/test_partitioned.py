"""Tables in partitions where there is no cluster, or no Dask."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rdplearn import RDPDetector, TableModel
from rdplearn.errors import ClusterError

NO_DASK = """
import sys
sys.modules["distributed"] = None
import rdplearn
try:
    rdplearn.TableModel(rdplearn.RDPDetector()).fit({folder!r})
except ModuleNotFoundError as fault:
    print(fault)
"""


def test_without_a_client_the_remedy_is_told():
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    with pytest.raises(ClusterError, match=r"by a Dask client, and there is none\..*Make one first"):
        RDPDetector().fit(da.from_array(np.eye(5), chunks=2))


def test_without_dask_the_remedy_is_told(tmp_path):
    code = NO_DASK.format(folder=str(tmp_path))
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "distributed is not installed. Run: pip install 'rdplearn[distributed]'" in told


def test_dask_is_imported_only_when_needed():
    code = "import sys, rdplearn; rdplearn.RDPDetector; rdplearn.TableModel; print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_a_folder_is_not_taken_for_a_table_of_one_machine(tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(ClusterError, match="by a Dask client, and there is none"):
        TableModel(RDPDetector()).fit(tmp_path)

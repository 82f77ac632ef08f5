"""The public face of the library, name by name: whoever changes it changes this file, and a reviewer sees it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import rdplearn

SOURCE = Path(rdplearn.__file__).parent

PUBLIC = {
    "rdplearn": """
        Checkpoint CheckpointError KeepRounds ModelFileError RDPClusterer RDPDetector RDPTransformer RDPWarning
        RandomMapping RecordEvery Reviewed StopOnPlateau TableEncoder TableError TableModel TorchOptions detect
        export_onnx load remember_scores review save watch write_report
    """,
    "rdplearn.callbacks": "Callback Checkpoint KeepRounds RecordEvery Records StopOnPlateau",
    "rdplearn.defaults": """
        DETECTOR_PAPER DetectorChoices TRANSFORMER_PAPER
        TransformerChoices choose_for_detector choose_for_transformer in_turn patience_for usual_for_shape width_of
    """,
    "rdplearn.errors": "CheckpointError ClusterError ModelFileError RDPWarning TableError",
    "rdplearn.evaluation": "classification_score clustering_scores macro_f_score majority_class",
    "rdplearn.mlflow": "save_model",
    "rdplearn.plots": """
        cluster_map cluster_sizes contributions precision_recall_curve rarity roc_curve row_map score_distribution
        template training_curves
    """,
    "rdplearn.report": """
        GatheredClusters GatheredRows changes_report cluster_report describe_clusters describe_detection
        detection_report figures findings page place_on_map write_page write_report
    """,
    "rdplearn.spark": "score",
    "rdplearn.table": """
        RowSample RowSampler Table TableEncoder TableSummary TextRules example_table open_table sample_rows summarise
    """,
}
IMPORTERS = {"import_module", "__import__"}
HOMES_OF_CLASSES = {"cli", "clusterer", "detector", "table_model", "transformer"}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_those_listed_here(module):
    opened = importlib.import_module(module)
    assert sorted(opened.__all__) == sorted(PUBLIC[module].split())
    assert all(hasattr(opened, name) for name in opened.__all__)


def test_all_other_modules_are_private():
    """What is not listed above begins with an underscore, or holds a class that `rdplearn` exports."""
    names = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    listed = {module.removeprefix("rdplearn.") for module in PUBLIC}
    assert {name for name in names - listed - HOMES_OF_CLASSES if not name.startswith("_")} == set()


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {name.name: imported.module for imported in typed.body for name in imported.names}
    assert seen == rdplearn._HOME


def test_a_star_brings_all_names():
    names: dict[str, object] = {}
    exec("from rdplearn import *", names)
    assert set(rdplearn.__all__) <= set(names)


def test_no_module_is_imported_from_a_string():
    """Layers are checked by reading imports; `rdplearn/__init__.py` alone, which is above them all, may hide one."""
    hidden = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).split(".")[-1] in IMPORTERS)
        or (isinstance(node, ast.ImportFrom) and {name.name for name in node.names} & IMPORTERS)
    }
    assert hidden == {"__init__.py"}

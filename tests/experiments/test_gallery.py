"""The gallery of shapes: whole, reproducible, and anomalies are where they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from experiments import datasets, gallery


def test_there_are_twenty_shapes_with_three_seeds_each():
    assert len(gallery.SHAPES) == 20
    assert len(datasets.names("gallery")) == 60
    assert datasets.load("gallery/ring_0").sha256 != datasets.load("gallery/ring_1").sha256
    assert datasets.load("gallery/ring_0").sha256 == datasets.load("gallery/ring_0").sha256


@pytest.mark.parametrize("shape", gallery.SHAPES, ids=lambda shape: shape.__name__)
def test_every_shape_has_its_rows_and_no_column_is_constant(shape):
    rows, labels = gallery.draw(shape, seed=0)
    assert len(rows) == len(labels) == gallery.N_ROWS
    assert labels.sum() == gallery.N_ODD
    assert np.isfinite(rows).all()
    assert (rows.std(axis=0) > 0).all()


@pytest.mark.parametrize(
    "shape", [gallery.ring, gallery.spiral, gallery.bimodal_hole], ids=lambda shape: shape.__name__
)
def test_anomalies_lie_apart_from_normal_rows_though_not_outside(shape):
    rows, labels = gallery.draw(shape, seed=0)
    scaled = StandardScaler().fit_transform(rows)
    distances, _ = NearestNeighbors(n_neighbors=6).fit(scaled).kneighbors(scaled)
    assert roc_auc_score(labels, distances[:, -1]) > 0.95
    odd, normal = rows[labels == 1], rows[labels == 0]
    assert (odd.max(axis=0) < normal.max(axis=0)).all()
    assert (odd.min(axis=0) > normal.min(axis=0)).all()

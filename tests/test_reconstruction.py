"""Training with the reconstruction loss: kernels against plain formulas, both against autograd, samples against all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rdplearn._model import losses
from rdplearn._model.decoder import Decoder
from rdplearn._model.mapping import draw_mapping, gaussian
from rdplearn._model.representation import Representation, draw_representation
from rdplearn._training import features, random_stream
from rdplearn._training import reconstruction as decoders
from rdplearn._training.engines.engine import start_engine
from rdplearn._training.features import FeatureTraining, train_features
from rdplearn._training.progress import Watch
from rdplearn._training.reconstruction import cells_to_decode, column_chances, sample_columns
from rdplearn._training.settings import TrainingSettings, TrainingTask
from tests.conftest import assert_same_to_rounding, training_settings

N_ROWS, N_COLUMNS, N_UNITS = 200, 40, 12
LOSSES = ("distance", "reconstruction")


def settings(**changes) -> TrainingSettings:
    return training_settings(
        **{"batch_size": 16, "novelty_weight": 0.0, "reconstruction_weight": 1.0, "recorded": LOSSES, **changes}
    )


def problem(*, sparse: bool, filled: float = 0.1, seed: int = 0):
    """Rows, their targets, and a function that makes the same untrained coder again and again."""
    rng = np.random.default_rng(seed)
    rows = rng.random((N_ROWS, N_COLUMNS), dtype=np.float32)
    rows[rng.random(rows.shape) > filled] = 0
    table = sp.csr_array(rows) if sparse else rows
    targets = draw_mapping("leaky", table, np.arange(N_ROWS), N_UNITS, rng)(table)
    phi = draw_representation(N_COLUMNS, N_UNITS, rng)
    decoder = Decoder(gaussian((N_COLUMNS, N_UNITS), 2.0 / N_UNITS, rng), np.zeros(N_COLUMNS, dtype=np.float32))

    def coder() -> TrainingTask:
        own = Representation(phi.weights.copy(), phi.bias.copy())
        decoding = Decoder(decoder.weights.copy(), decoder.bias.copy())
        return TrainingTask(table, targets, np.arange(N_ROWS), own, 77, decoding, N_COLUMNS)

    return table, targets, coder


def trained(engine, rows, targets, coder, how, cuts=(60,)):
    coder.rows, coder.targets = rows, targets
    steps = start_engine(engine, [coder], how)
    taken, first_step = [], 0
    for n_steps in cuts:
        taken += steps.run(first_step, n_steps)
        first_step += n_steps
    steps.finish()
    return coder, taken


def assert_same_coder(ours: TrainingTask, theirs: TrainingTask, after_steps: int) -> None:
    assert_same_to_rounding(ours.phi.weights, theirs.phi.weights, after_steps=after_steps)
    assert_same_to_rounding(ours.phi.bias, theirs.phi.bias, after_steps=after_steps)
    assert_same_to_rounding(ours.decoder.weights, theirs.decoder.weights, after_steps=after_steps)
    assert_same_to_rounding(ours.decoder.bias, theirs.decoder.bias, after_steps=after_steps)


def learned(rows, targets, n_components, how, engine, rng):
    """Draw a φ and train it as the transformer does. Returns the trained task and its losses."""
    phi = draw_representation(rows.shape[1], n_components, rng)
    everything = np.arange(rows.shape[0])
    task = TrainingTask(rows, targets, everything, phi, int(rng.integers(2**63)), n_columns=rows.shape[1])
    return train_features(task, FeatureTraining(how, engine), Watch(1, 1, how.n_steps, visible=False))


VARIANTS = {
    "both losses, L1": {},
    "both losses, plain": {"inner_product": "plain", "distance_weight": 0.01},
    "reconstruction alone": {"distance_weight": 0.0},
    "no dropout": {"dropout": 0.0},
    "no momentum": {"momentum": 0.0},
    "never clipped": {"max_grad_norm": np.inf},
    "uneven weights": {"distance_weight": 3.0, "reconstruction_weight": 0.2},
    "smallest batch": {"batch_size": 2},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "sampled"])
def test_kernels_agree_with_the_plain_formulas(variant, kind, monkeypatch):
    if kind == "sampled":
        monkeypatch.setattr(decoders, "EXACT_UP_TO", 5)
        monkeypatch.setattr(decoders, "SAMPLED_COLUMNS", 10)
    rows, targets, coder = problem(sparse=kind != "dense", filled=0.1 if kind == "sampled" else 0.3)
    how = settings(**VARIANTS[variant])
    plain, plain_losses = trained("numpy", rows, targets, coder(), how)
    fused, fused_losses = trained("numba", rows, targets, coder(), how)
    assert_same_coder(fused, plain, after_steps=60)
    assert fused_losses[0].distance == pytest.approx(plain_losses[0].distance, rel=1e-3, abs=1e-7)
    assert fused_losses[0].reconstruction == pytest.approx(plain_losses[0].reconstruction, rel=1e-3)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_result_does_not_depend_on_how_the_work_is_cut(engine, sparse):
    rows, targets, coder = problem(sparse=sparse, filled=0.02)
    whole, _ = trained(engine, rows, targets, coder(), settings())
    parts, _ = trained(engine, rows, targets, coder(), settings(), cuts=(7, 50, 3))
    assert_same_coder(parts, whole, after_steps=60)


def test_plain_formulas_agree_with_autograd_over_many_steps():
    torch = pytest.importorskip("torch", reason="the autograd reference needs PyTorch")
    from benchmarks.autograd_coder import AutogradCoder

    rng = np.random.default_rng(0)
    rows, _, coder = problem(sparse=False, filled=0.5)
    mapping = draw_mapping("leaky", rows, np.arange(N_ROWS), N_UNITS, rng)
    how = settings(dropout=0.0, n_steps=100)
    start = coder()
    theirs = AutogradCoder(start.phi, mapping.weights, start.decoder, dropout=0.0)
    table = torch.from_numpy(rows)
    for row_key, partner_key, _ in random_stream.all_step_keys([77], 0, how.n_steps)[:, 0]:
        batch = random_stream.below(random_stream.words(row_key, how.batch_size), N_ROWS)
        shift = 1 + int(random_stream.below(random_stream.words(partner_key, 1), how.batch_size - 1)[0])
        theirs.step(table[batch], table[batch[losses.partners(how.batch_size, shift)]])
    ours, _ = trained("numpy", rows, mapping(rows), coder(), how, cuts=(100,))
    assert_same_coder(ours, theirs.coder(), after_steps=100)


def test_learning_happens_and_the_decoder_decodes():
    rng = np.random.default_rng(3)
    rows = (rng.random((N_ROWS, 3)) @ rng.random((3, N_COLUMNS))).astype(np.float32)
    targets = draw_mapping("leaky", rows, np.arange(N_ROWS), N_UNITS, rng)(rows)
    how = settings(n_steps=3000, max_grad_norm=1.0, dropout=0.0)
    coder, records = learned(rows, targets, N_UNITS, how, "numba", rng)
    assert records[-1]["reconstruction_loss"] < 0.05 * records[0]["reconstruction_loss"]
    error = np.mean((coder.decoder(coder.phi(rows)) - rows) ** 2)
    assert error < 0.1 * rows.var(axis=0).mean()


@pytest.mark.parametrize("reconstruction_weight", [0.0, 1.0])
def test_the_rotation_is_the_same_algorithm(reconstruction_weight, monkeypatch):
    """More columns than rows and units together: trained in their span, or in all columns."""
    rng = np.random.default_rng(0)
    rows = rng.random((20, 60), dtype=np.float32)
    targets = draw_mapping("leaky", rows, np.arange(20), 8, rng)(rows)
    how = settings(n_steps=100, reconstruction_weight=reconstruction_weight)
    results = []
    for pays in (True, False):
        monkeypatch.setattr(features, "rotation_pays", lambda *_, pays=pays: pays)
        coder, _ = learned(rows, targets, 8, how, "numpy", np.random.default_rng(1))
        results.append(coder)
    assert_same_to_rounding(results[0].phi.weights, results[1].phi.weights, after_steps=1000)
    if reconstruction_weight:
        assert_same_to_rounding(results[0].decoder.weights, results[1].decoder.weights, after_steps=1000)
        assert_same_to_rounding(results[0].decoder.bias, results[1].decoder.bias, after_steps=1000)


# reconstruction sampling


def wide_rows(n_rows: int = 50, n_columns: int = 6000, seed: int = 0) -> sp.csr_array:
    """Sparse rows with a column that all fill, some that many fill, and a great many that hardly any does."""
    rng = np.random.default_rng(seed)
    shares = np.concatenate([[1.0], np.full(99, 0.3), np.full(n_columns - 100, 0.002)])
    filled = rng.random((n_rows, n_columns)) < shares
    return sp.csr_array(np.where(filled, rng.random((n_rows, n_columns)), 0.0).astype(np.float32))


def test_columns_that_more_rows_fill_are_drawn_more_often():
    rows = wide_rows()
    chances = column_chances(rows)
    n_values = np.bincount(rows.indices, minlength=rows.shape[1])
    assert chances[0] == 1
    assert np.all(np.diff(chances[np.argsort(n_values)]) >= 0)
    assert chances.min() >= decoders.SAMPLED_COLUMNS / rows.shape[1] / 2
    assert chances.sum() <= decoders.SAMPLED_COLUMNS
    assert np.all(column_chances(rows[:, : decoders.EXACT_UP_TO]) == 1)


def test_a_column_is_drawn_as_often_as_its_chance_says():
    chances = np.array([1.0, 0.5, 0.1, 0.01], dtype=np.float32)
    draws = np.array([sample_columns(chances, key) for key in random_stream.words(np.uint32(1), 20_000)])
    np.testing.assert_allclose(draws.max(axis=0), 1 / chances)
    drawn = (draws > 0).mean(axis=0)
    assert np.all(np.abs(drawn - chances) <= 4 * np.sqrt(chances * (1 - chances) / len(draws)))


def test_a_cell_with_a_value_stands_for_itself_and_one_without_for_its_share():
    batch = sp.csr_array(np.array([[0, 5, 0, 0, 0], [0, 0, 7, 0, 0]], dtype=np.float32))
    columns, rows, stands_for = cells_to_decode(batch, np.array([0, 2, 0, 0, 3], dtype=np.float32))
    assert columns.tolist() == [1, 2, 4]
    assert rows.tolist() == [[5, 0, 0], [0, 7, 0]]
    assert stands_for.tolist() == [[1, 0, 3], [2, 1, 3]]


def test_sampled_loss_and_gradient_are_unbiased(monkeypatch):
    """Their mean over many draws of columns is the loss and the gradient over all columns."""
    monkeypatch.setattr(decoders, "EXACT_UP_TO", 5)
    monkeypatch.setattr(decoders, "SAMPLED_COLUMNS", 12)
    rng = np.random.default_rng(0)
    filled = rng.random((5, 60)) < np.where(np.arange(60) < 5, 0.9, 0.02)
    dense = np.where(filled, rng.random((5, 60)), 0.0)
    batch = sp.csr_array(dense)
    phi, decoder = rng.normal(size=(5, 4)), rng.normal(size=(60, 4))
    decoded = phi @ decoder.T
    exact, exact_pull = losses.reconstruction_loss(decoded, dense, np.ones(1), 60)
    chances = column_chances(batch)
    assert 0 < np.sum(chances == 1) < 60
    values, gradients = [], []
    for key in random_stream.words(np.uint32(9), 4000):
        columns, rows, weights = cells_to_decode(batch, sample_columns(chances, key))
        value, pull = losses.reconstruction_loss(decoded[:, columns], rows, weights, 60)
        values.append(value)
        gradients.append(pull @ decoder[columns])
    exact_gradient = exact_pull @ decoder
    error = np.std(gradients, axis=0) / np.sqrt(len(gradients))
    assert abs(np.mean(values) - exact) < 4 * np.std(values) / np.sqrt(len(values))
    assert np.all(np.abs(np.mean(gradients, axis=0) - exact_gradient) < 5 * error)


def test_stored_zeros_are_zeros_to_every_engine():
    rows, targets, coder = problem(sparse=True)
    stored = rows.copy()
    stored.data[::3] = 0
    without = stored.copy()
    without.eliminate_zeros()
    for engine in ("numpy", "numba"):
        ours, _ = trained(engine, stored, targets, coder(), settings())
        theirs, _ = trained(engine, without, targets, coder(), settings())
        assert_same_coder(ours, theirs, after_steps=60)


def test_on_narrow_rows_nothing_is_sampled():
    rows, targets, coder = problem(sparse=True)
    dense = rows.toarray()
    exact, _ = trained("numpy", dense, targets, coder(), settings())
    for engine in ("numpy", "numba"):
        ours, _ = trained(engine, rows, targets, coder(), settings())
        assert_same_coder(ours, exact, after_steps=60)

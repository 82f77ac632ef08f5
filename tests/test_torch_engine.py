"""The torch engine: the same weights as the other engines and as autograd; any network, loss and device."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

from rdplearn import RDPClusterer, RDPDetector, RDPTransformer, RDPWarning, RecordEvery, TorchOptions
from rdplearn._model import losses
from rdplearn._model.mapping import draw_mapping
from rdplearn._model.representation import Representation, draw_representation
from rdplearn._training import random_stream
from rdplearn._training.engines.plain import PlainEngine
from rdplearn._training.settings import TrainingSettings, TrainingTask
from tests.conftest import assert_same_to_rounding, planted_table, training_settings
from tests.test_common_checks import checked_with_array_apis, with_checks

torch = pytest.importorskip("torch", reason="the torch engine needs PyTorch")
nn, F = torch.nn, torch.nn.functional

from rdplearn._training import members as member_training  # noqa: E402
from rdplearn._training.engines import torch_device, torch_stream  # noqa: E402
from rdplearn._training.engines.torch_rows import DenseStack  # noqa: E402
from rdplearn._training.engines.torch_steps import TorchEngine  # noqa: E402

QUICK = {"n_members": 3, "n_rounds": 2, "n_steps": 40, "max_samples": 300, "random_state": 0}
CPU = TorchOptions(device="cpu")


def problems(*, sparse: bool = False, n_columns=(20, 20, 20)) -> list[TrainingTask]:
    """Members with different rows, different numbers of rows and, if wanted, different numbers of columns."""
    made = []
    for number, n_columns_here in enumerate(n_columns):
        rng = np.random.default_rng(number)
        dense = rng.random((200 + 50 * number, n_columns_here), dtype=np.float32)
        dense[dense < 0.7] = 0
        rows = sp.csr_array(dense) if sparse else dense
        kept = np.arange(0, rows.shape[0], 1 + number)
        targets = draw_mapping("leaky", rows, kept, 16, rng)(rows)
        made.append(TrainingTask(rows, targets, kept, draw_representation(n_columns_here, 16, rng), 100 + number))
    return made


def train_alone(problem: TrainingTask, how: TrainingSettings) -> None:
    """Train a member by the plain formulas."""
    steps = PlainEngine([problem], how)
    steps.run(0, how.n_steps)
    steps.finish()


VARIANTS = {
    "both losses, L1": {},
    "both losses, plain": {"inner_product": "plain", "distance_weight": 0.01},
    "novelty alone": {"distance_weight": 0.0},
    "distance alone": {"novelty_weight": 0.0},
    "no dropout": {"dropout": 0.0},
    "never clipped": {"max_grad_norm": np.inf},
    "smallest batch": {"batch_size": 2},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_stack_gives_the_weights_that_each_member_would_have_alone(variant, sparse):
    """Dropout too: it is drawn from the same stream."""
    how = training_settings(**VARIANTS[variant])
    alone, stacked = problems(sparse=sparse), problems(sparse=sparse)
    steps = TorchEngine(stacked, how, CPU)
    steps.run(0, 25)
    losses_of_stack = steps.run(25, 35)
    steps.finish()
    for number, problem in enumerate(alone):
        plain = PlainEngine([problem], how)
        plain.run(0, 25)
        (losses_alone,) = plain.run(25, 35)
        plain.finish()
        assert_same_to_rounding(stacked[number].phi.weights, problem.phi.weights, after_steps=60)
        assert_same_to_rounding(stacked[number].phi.bias, problem.phi.bias, after_steps=60)
        assert losses_of_stack[number].distance == pytest.approx(losses_alone.distance, rel=1e-3, abs=1e-7)
        assert losses_of_stack[number].novelty == pytest.approx(losses_alone.novelty, rel=1e-3, abs=1e-7)


def test_members_with_fewer_columns_are_stacked_with_the_others():
    alone, stacked = problems(n_columns=(20, 7, 12)), problems(n_columns=(20, 7, 12))
    steps = TorchEngine(stacked, training_settings(), CPU)
    steps.run(0, 60)
    steps.finish()
    for one, of_stack in zip(alone, stacked, strict=True):
        train_alone(one, training_settings())
        assert of_stack.phi.weights.shape == one.phi.weights.shape
        assert_same_to_rounding(of_stack.phi.weights, one.phi.weights, after_steps=60)


def test_a_stack_agrees_with_autograd_member_by_member():
    from benchmarks.autograd_member import AutogradMember

    how = training_settings(dropout=0.0, n_steps=50)
    stacked = problems()
    references = []
    for number, problem in enumerate(problems()):
        rng = np.random.default_rng(number)
        rng.random(problem.rows.shape, dtype=np.float32)
        mapping = draw_mapping("leaky", problem.rows, problem.kept, 16, rng)
        member = AutogradMember(problem.phi.weights, problem.phi.bias, mapping.weights, dropout=0.0)
        table = torch.from_numpy(problem.rows)
        for row_key, partner_key, _ in random_stream.all_step_keys([problem.seed], 0, how.n_steps)[:, 0]:
            words = random_stream.words(row_key, how.batch_size)
            batch = problem.kept[random_stream.below(words, len(problem.kept))]
            shift = 1 + int(random_stream.below(random_stream.words(partner_key, 1), how.batch_size - 1)[0])
            member.step(table[batch], table[batch[losses.partners(how.batch_size, shift)]])
        references.append(member)
    steps = TorchEngine(stacked, how, CPU)
    steps.run(0, how.n_steps)
    steps.finish()
    for problem, member in zip(stacked, references, strict=True):
        assert_same_to_rounding(problem.phi.weights, member.parameters()[0], after_steps=50)
        assert_same_to_rounding(problem.phi.bias, member.parameters()[1], after_steps=50)


def test_one_exploding_member_does_not_slow_the_rest():
    how = training_settings(max_grad_norm=0.01)
    alone, stacked = problems(), problems()
    stacked[1].targets *= 1e4
    steps = TorchEngine(stacked, how, CPU)
    steps.run(0, 60)
    steps.finish()
    train_alone(alone[0], how)
    assert_same_to_rounding(stacked[0].phi.weights, alone[0].phi.weights, after_steps=60)


def test_dropout_is_drawn_from_the_same_stream():
    keys = random_stream.step_keys(3, 0, 4, random_stream.DROPOUT)
    for dropout in (0.1, 0.5, 0.9):
        limit = random_stream.drop_limit(dropout)
        mask = torch_stream.keep_mask(torch_stream.signed(keys), 1000, limit).numpy()
        expected = np.stack([random_stream.words(key, 1000) >= limit for key in keys])
        np.testing.assert_array_equal(mask, expected)


DETECTORS = {
    "default": {},
    "the paper's": {"paper": True},
    "without the novelty loss": {"novelty_weight": 0.0, "distance_weight": 1.0},
    "fourier": {"mapping": "fourier", "views": "minmax"},
}


@pytest.mark.parametrize("kind", DETECTORS)
@pytest.mark.parametrize("shape", [(300, 6), (30, 80)], ids=["tall", "wide"])
def test_the_detector_is_the_same_with_either_engine(kind, shape):
    table = planted_table(*shape, n_anomalies=3)[0]
    changes = {**QUICK, **DETECTORS[kind]}
    make = RDPDetector.paper if changes.pop("paper", False) else RDPDetector
    numpy, stacked = (make(engine=engine, **changes).fit(table) for engine in ("numpy", "torch"))
    np.testing.assert_allclose(stacked.score_samples(table), numpy.score_samples(table), rtol=2e-3, atol=1e-6)
    assert [(r["member"], r["round"], r["step"], r["n_kept"]) for r in stacked.history_] == [
        (r["member"], r["round"], r["step"], r["n_kept"]) for r in numpy.history_
    ]


def test_sparse_tables_give_the_same_detector(table):
    rows = sp.random_array((200, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    numpy, stacked = (RDPDetector(engine=engine, **QUICK).fit(rows) for engine in ("numpy", "torch"))
    np.testing.assert_allclose(stacked.score_samples(rows), numpy.score_samples(rows), rtol=2e-3, atol=1e-6)


def test_the_result_does_not_depend_on_threads_or_on_how_members_are_stacked(table, monkeypatch):
    expected = RDPDetector(engine="torch", **QUICK).fit(table).score_samples(table)
    two = RDPDetector(engine="torch", n_jobs=2, **QUICK).fit(table)
    np.testing.assert_allclose(two.score_samples(table), expected, rtol=1e-4)
    monkeypatch.setattr(member_training, "LARGEST_STACK", 1)  # every member on its own
    one_by_one = RDPDetector(engine="torch", **QUICK).fit(table)
    np.testing.assert_allclose(one_by_one.score_samples(table), expected, rtol=1e-4)


def test_threads_and_the_generator_of_torch_are_left_as_they_were(table):
    torch.manual_seed(1)
    state, n_threads = torch.get_rng_state(), torch.get_num_threads()
    RDPDetector(torch=TorchOptions(network=with_tanh), n_jobs=2, **QUICK).fit(table)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == n_threads


def test_rows_that_do_not_fit_on_the_device_are_streamed(table, monkeypatch):
    expected = RDPDetector(engine="torch", **QUICK).fit(table).score_samples(table)
    monkeypatch.setattr("rdplearn._training.engines.torch_rows.room_for_rows", lambda device: 0.0)
    streamed = RDPDetector(engine="torch", **QUICK).fit(table)
    np.testing.assert_array_equal(streamed.score_samples(table), expected)


def test_rows_stay_on_a_device_with_room_for_them(monkeypatch):
    part = np.ones((4, 3), dtype=np.float32)
    monkeypatch.setattr("rdplearn._training.engines.torch_rows.room_for_rows", lambda device: 48.0)
    assert DenseStack([part], torch.device("meta")).table.device.type == "meta"
    monkeypatch.setattr("rdplearn._training.engines.torch_rows.room_for_rows", lambda device: 47.0)
    assert DenseStack([part], torch.device("meta")).table.device.type == "cpu"


@pytest.mark.parametrize("pairs", ["all", "one"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_transformer_is_the_same_with_either_engine(pairs, sparse):
    rng = np.random.default_rng(0)
    rows = rng.random((120, 25)) * (rng.random((120, 25)) < (0.08 if sparse else 1.0))
    table = sp.csr_array(rows) if sparse else rows
    quick = {"n_components": 6, "n_steps": 40, "batch_size": 32, "random_state": 0}
    make = RDPTransformer if pairs == "all" else RDPTransformer.paper
    numpy, stacked = (make(engine=engine, **quick).fit(table) for engine in ("numpy", "torch"))
    np.testing.assert_allclose(stacked.transform(table), numpy.transform(table), rtol=1e-3, atol=1e-4)
    for ours, theirs in zip(stacked.history_, numpy.history_, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3)
    if pairs == "one":
        features = numpy.transform(table)
        np.testing.assert_allclose(
            stacked.inverse_transform(features), numpy.inverse_transform(features), rtol=1e-3, atol=1e-4
        )


def test_the_clusterer_takes_an_engine(table):
    few = table[:60]
    kinds = [RDPClusterer(3, engine=engine, random_state=0).fit(few) for engine in ("numpy", "torch")]
    assert kinds[1].transformer_.engine == "torch"
    np.testing.assert_array_equal(kinds[0].labels_, kinds[1].labels_)


CHECKED = [
    RDPDetector.paper(engine="torch", n_members=2, n_rounds=2, n_steps=40, max_samples=256),
    RDPTransformer(engine="torch", n_components=8, n_steps=20, batch_size=32),
    RDPClusterer(engine="torch", n_init=2, transformer=RDPTransformer(engine="torch", n_steps=20)),
]


@with_checks(CHECKED)
def test_scikit_learn_common_check(estimator, check):
    check(estimator)


def test_array_apis_may_be_switched_on():
    assert checked_with_array_apis("tests.test_torch_engine.CHECKED") == "3 checked"


# networks and losses of one's own


def with_tanh(n_columns: int, n_components: int):
    return nn.Sequential(nn.Linear(n_columns, 12), nn.Tanh(), nn.Dropout(0.1), nn.Linear(12, n_components))


def with_batch_norm(n_columns: int, n_components: int):
    return nn.Sequential(nn.Linear(n_columns, 12), nn.BatchNorm1d(12), nn.Linear(12, n_components))


def like_the_paper(n_columns: int, n_components: int):
    return nn.Sequential(nn.Linear(n_columns, n_components), nn.LeakyReLU(losses.REPRESENTATION_SLOPE))


class InParts(nn.Sequential):
    """Decides by the numbers which rows to work on, as no batched computation can."""

    def forward(self, rows):
        result = rows.new_empty(len(rows), self[0].out_features)
        is_first = rows[:, 0] > 0
        result[is_first], result[~is_first] = super().forward(rows[is_first]), super().forward(rows[~is_first])
        return result


def like_the_paper_in_parts(n_columns: int, n_components: int):
    return InParts(*like_the_paper(n_columns, n_components))


def keep_distances(rows, phi, targets, partner):
    difference = (rows - rows[partner]).norm(dim=1) - (phi - phi[partner]).norm(dim=1)
    return difference.square()


def test_a_network_like_the_papers_is_trained_like_the_papers():
    alone = problems()
    from rdplearn._training.engines.torch_networks import OwnNetwork

    own = problems()
    for problem in own:
        module = like_the_paper(20, 16)
        with torch.no_grad():
            module[0].weight.copy_(torch.from_numpy(problem.phi.weights.T))
            module[0].bias.zero_()
        problem.phi = OwnNetwork(module, 16)
    for stack in (alone, own):
        steps = TorchEngine(stack, training_settings(), CPU)
        steps.run(0, 60)
        steps.finish()
    for ours, theirs in zip(alone, own, strict=True):
        assert_same_to_rounding(theirs.phi(theirs.rows), ours.phi(ours.rows), after_steps=60)


@pytest.mark.parametrize("network", [[12], [12, 9], with_tanh], ids=["one hidden", "two hidden", "own"])
def test_any_network_learns(network, labels):
    table = planted_table()[0]
    detector = RDPDetector(torch=TorchOptions(network=network), **{**QUICK, "n_steps": 150}).fit(table)
    first, last = detector.history_[0], [r for r in detector.history_ if (r["member"], r["round"]) == (0, 0)][-1]
    assert last["novelty_loss"] < 0.7 * first["novelty_loss"]
    assert detector.score_samples(table)[labels].mean() < detector.score_samples(table)[~labels].mean()
    again = RDPDetector(torch=TorchOptions(network=network), **{**QUICK, "n_steps": 150}).fit(table)
    np.testing.assert_array_equal(again.score_samples(table), detector.score_samples(table))
    assert len(np.unique(detector.member_scores(table)[0])) == 6  # members differ, with both kinds of losses
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.score_samples(table), detector.score_samples(table))
    assert clone(detector).torch == TorchOptions(network=network)


@pytest.mark.parametrize("network", [None, [12], with_tanh], ids=["paper's", "hidden", "own"])
def test_rows_are_explained(network):
    table = planted_table()[0]
    table[7, 2] = 40.0
    detector = RDPDetector(engine="torch", torch=TorchOptions(network=network), **QUICK).fit(table)
    contributions = detector.explain(table[5:10]).contributions
    assert int(np.argmax(contributions[2])) == 2
    gap = -detector.score_samples(table[5:10]) - detector.typical_rows_.score
    np.testing.assert_allclose(contributions.sum(axis=1), gap, rtol=1e-4)


def test_hidden_layers_are_applied_alike_in_numpy_and_in_torch():
    from rdplearn._training.engines.torch_networks import LeakyLayers

    rng = np.random.default_rng(0)
    phis = [draw_representation(5, 4, rng, (7, 6)) for _ in range(2)]
    rows = rng.random((9, 5), dtype=np.float32)
    stacked = LeakyLayers(phis, torch.device("cpu"))(torch.from_numpy(np.stack([rows, rows])))
    for number, phi in enumerate(phis):
        assert [weights.shape for weights, _ in phi.layers] == [(5, 7), (7, 6), (6, 4)]
        assert_same_to_rounding(stacked[number].detach().numpy(), phi(rows))


@pytest.mark.parametrize("pairs", ["all", "one"])
@pytest.mark.parametrize("network", [[12], with_tanh], ids=["hidden", "own"])
def test_the_transformer_takes_any_network(pairs, network):
    pixels = load_digits().data[:300]
    options = TorchOptions(network=network)
    transformer = RDPTransformer(torch=options, pairs=pairs, n_components=8, n_steps=120, random_state=0).fit(pixels)
    assert transformer.transform(pixels).shape == (300, 8)
    assert transformer.history_[-1]["distance_loss"] < 0.8 * transformer.history_[0]["distance_loss"]


def test_each_member_has_batch_statistics_of_its_own(table):
    detector = RDPDetector(torch=TorchOptions(network=with_batch_norm), views="rank", mapping="leaky", **QUICK).fit(
        table
    )
    modules = [network.module for network in detector.panels_[0].last_rounds(1).networks]
    assert [int(module[1].num_batches_tracked) for module in modules] == 3 * [QUICK["n_steps"]]
    means = torch.stack([module[1].running_mean for module in modules])
    assert not torch.allclose(means[0], means[1])
    assert not any(module.training for module in modules)


def test_a_network_that_cannot_be_stacked_is_trained_all_the_same(table):
    stacked = RDPDetector(torch=TorchOptions(network=like_the_paper), **QUICK).fit(table)
    with pytest.warns(RDPWarning, match="'network' cannot be computed for all members at once"):
        one_by_one = RDPDetector(torch=TorchOptions(network=like_the_paper_in_parts), **QUICK).fit(table)
    np.testing.assert_allclose(one_by_one.score_samples(table), stacked.score_samples(table), rtol=1e-3)


def test_auxiliary_losses_are_recorded_and_learned(table):
    without, with_it = (
        RDPDetector(
            **{**QUICK, "n_steps": 120}, torch=TorchOptions(auxiliary_losses=auxiliary), callbacks=[RecordEvery(40)]
        ).fit(table)
        for auxiliary in ({"apart": (keep_distances, 1e-9)}, {"apart": (keep_distances, 5.0)})
    )
    assert with_it.history_[-1]["apart_loss"] < 0.7 * without.history_[-1]["apart_loss"]


def test_an_auxiliary_loss_sees_the_batch_of_one_member():
    seen = []

    def spy(rows, phi, targets, partner):
        seen.append((rows.shape, phi.shape, targets.shape, partner.shape))
        return phi.new_zeros(())

    table = planted_table()[0]
    RDPDetector(
        **QUICK, n_components=5, batch_size=16, views="minmax", torch=TorchOptions(auxiliary_losses={"spy": (spy, 1.0)})
    ).fit(table)
    assert set(seen) == {((16, 6), (16, 5), (16, 5), (16,))}


def test_several_auxiliary_losses_add_up():
    stacked = problems()
    constant = {"one": (lambda *_: torch.ones(()), 2.0), "two": (lambda *_: 2 * torch.ones(3), 1.0)}
    steps = TorchEngine(stacked, training_settings(), TorchOptions(auxiliary_losses=constant, device="cpu"))
    assert steps.run(0, 5)[0].auxiliary == {"one": 1.0, "two": 2.0}


def test_the_squared_error_is_the_default_distance_loss():
    ours, own = problems(), problems()
    for stack, loss in ((ours, None), (own, lambda predicted, wanted: F.mse_loss(predicted, wanted))):
        steps = TorchEngine(stack, training_settings(), TorchOptions(distance_loss=loss, device="cpu"))
        steps.run(0, 40)
        steps.finish()
    for one, other in zip(ours, own, strict=True):
        assert_same_to_rounding(one.phi.weights, other.phi.weights, after_steps=40)


def test_any_distance_loss_may_take_its_place(table):
    huber = RDPDetector.paper(
        **QUICK, torch=TorchOptions(distance_loss=F.huber_loss), inner_product="plain", distance_weight=0.01
    ).fit(table)
    squared = RDPDetector.paper(**QUICK, engine="torch", inner_product="plain", distance_weight=0.01).fit(table)
    assert huber.history_[0]["distance_loss"] < squared.history_[0]["distance_loss"]


def test_a_loss_that_cannot_be_stacked_is_computed_member_by_member(table):
    def of_positive(rows, phi, targets, partner):
        return phi[phi > 0].mean()

    with pytest.warns(RDPWarning, match="computed for one after the other"):
        RDPDetector(**QUICK, torch=TorchOptions(auxiliary_losses={"positive": (of_positive, 0.1)})).fit(table)


def test_faults_of_the_users_code_come_through(table):
    def broken(rows, phi, targets, partner):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        RDPDetector(**QUICK, torch=TorchOptions(auxiliary_losses={"broken": (broken, 1.0)})).fit(table)
    with pytest.raises(TypeError, match=r"auxiliary_losses\['number'\] must return a tensor of losses"):
        RDPDetector(**QUICK, torch=TorchOptions(auxiliary_losses={"number": (lambda *_: 1.0, 1.0)})).fit(table)


BAD_PARAMETERS = {
    "widths": ({"network": [0]}, "'network' of TorchOptions must be None, a list of the widths"),
    "engine": ({"network": [8], "engine": "numba"}, "'network' of TorchOptions needs engine='torch' of RDPDetector"),
    "device of another engine": ({"device": "cuda", "engine": "numpy"}, "'device' of TorchOptions needs"),
    "no pair": ({"auxiliary_losses": {"x": keep_distances}}, "dictionary of name: \\(function, weight\\)"),
    "weight": ({"auxiliary_losses": {"x": (keep_distances, 0)}}, "weights above 0"),
    "name": ({"auxiliary_losses": {"novelty": (keep_distances, 1)}}, "must not use the name of a built-in loss"),
    "shape": ({"network": lambda n, k: nn.Linear(n, k + 1)}, "must take rows of shape \\(n_rows, 6\\) to an output"),
}


@pytest.mark.parametrize("kind", BAD_PARAMETERS)
def test_bad_parameters_are_refused(kind, table):
    (parameters, message), engine = BAD_PARAMETERS[kind], "auto"
    if "engine" in parameters:
        parameters, engine = (
            {name: value for name, value in parameters.items() if name != "engine"},
            parameters["engine"],
        )
    with pytest.raises(ValueError, match=message):
        RDPDetector(engine=engine, views="minmax", torch=TorchOptions(**parameters), **QUICK).fit(table)


def test_a_function_that_makes_no_network_is_refused(table):
    with pytest.raises(TypeError, match=r"must return a torch.nn.Module with parameters to learn. Got Tanh"):
        RDPDetector(**QUICK, torch=TorchOptions(network=lambda n, k: nn.Tanh())).fit(table)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_named(table):
    with pytest.raises(ValueError, match=r"must be one that PyTorch finds on this machine: .*'cpu'. Got 'cuda'"):
        RDPDetector(**QUICK, torch=TorchOptions(device="cuda")).fit(table)
    with pytest.raises(ValueError, match="Got 'cuda'"):
        RDPTransformer(n_steps=5, torch=TorchOptions(device="cuda")).fit(table)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_other_devices_give_the_same_result(device, table):
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[device]:
        pytest.skip(f"there is no {device} device on this machine")
    here, elsewhere = (
        RDPDetector(engine="torch", torch=TorchOptions(device=name), **QUICK).fit(table) for name in ("cpu", device)
    )
    np.testing.assert_allclose(elsewhere.score_samples(table), here.score_samples(table), rtol=2e-3, atol=1e-6)


# torch.compile


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_steps_can_be_compiled(table, monkeypatch):
    """With the compiler's front end alone, since its back end takes a minute; once for all rounds."""
    compiler = torch.compile
    monkeypatch.setattr(torch, "compile", lambda function: compiler(function, backend="eager", fullgraph=True))
    plain, compiled = (
        RDPDetector.paper(engine="torch", torch=TorchOptions(compile=compile), **QUICK).fit(table)
        for compile in (False, True)
    )
    np.testing.assert_allclose(compiled.score_samples(table), plain.score_samples(table), rtol=1e-4)


def test_where_compiling_fails_training_goes_on_with_a_warning(table, monkeypatch):
    def fails(function):
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(torch, "compile", fails)
    plain = RDPDetector(engine="torch", **QUICK).fit(table)
    with pytest.warns(RDPWarning, match="torch.compile failed .no compiler here.; training goes on without it"):
        other = RDPDetector(engine="torch", torch=TorchOptions(compile=True), **QUICK).fit(table)
    np.testing.assert_array_equal(other.score_samples(table), plain.score_samples(table))
    with pytest.warns(RDPWarning, match="torch.compile failed"):
        RDPTransformer(n_steps=5, torch=TorchOptions(compile=True)).fit(table)


# without PyTorch


WITHOUT_TORCH = """
import sys
import numpy as np
import rdplearn
from rdplearn import RDPDetector, RDPTransformer, Checkpoint, StopOnPlateau, RDPClusterer
table = np.random.default_rng(0).normal(size=(100, 3))
RDPDetector(random_state=0).fit(table).score_samples(table)
RDPTransformer(n_steps=10).fit(table).transform(table)
assert "torch" not in sys.modules
"""


def test_importing_and_using_rdplearn_never_imports_torch():
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH], check=True)


@pytest.mark.parametrize("estimator", [RDPDetector, RDPTransformer])
def test_without_torch_the_error_names_the_install_command(estimator, monkeypatch, table):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "rdplearn._training.torch_options.find_spec", lambda name: None if name == "torch" else find(name)
    )
    with pytest.raises(
        ImportError, match=r"needs PyTorch, which is not installed. Run: pip install 'rdplearn\[torch\]'"
    ):
        estimator(engine="torch").fit(table)


def test_auto_is_the_fastest_device_there_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device.find_device("auto").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert torch_device.find_device("auto").type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert torch_device.find_device("auto").type == "cpu"


def test_a_representation_without_hidden_layers_is_what_it_was():
    rng = np.random.default_rng(0)
    phi = draw_representation(5, 4, rng)
    assert phi.deeper == ()
    assert phi.n_components == 4
    rows = rng.random((3, 5), dtype=np.float32)
    np.testing.assert_allclose(phi(rows), Representation(phi.weights, phi.bias)(rows))

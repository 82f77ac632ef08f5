"""Every method by the paper's name: where its code is, with which options, and how long it may run.

Code is imported only when a method is made, so that a missing optional package stops that method alone.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import Any

from experiments.baselines.rdp import DETECTION_PROTOCOL

TEN_MINUTES = 600.0
AN_HOUR = 3_600.0  # for ensembles of the paper's size


@dataclass(frozen=True)
class Method:
    """Where a method is (`module:class` in `experiments.baselines`) and its options.

    `quick` holds what the quick budget changes, `by_data` what a data set needs, `time_limit` processor
    seconds for one run. `reads` is "rows", or "texts" for methods that take the documents themselves.
    """

    path: str
    config: dict[str, Any] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)
    by_data: dict[str, dict[str, Any]] = field(default_factory=dict)
    time_limit: float | None = TEN_MINUTES
    reads: str = "rows"


# the sparse text set has few rows: the authors draw 1,024 for a member
_R8_SAMPLES = {"r8_anomaly": {"max_samples": 1_024}}
_QUICK_RDP = {"n_members": 3, "n_rounds": 2, "n_steps": 60, "n_components": 20}
_QUICK_ENSEMBLE = {"n_members": 2, "n_steps": 100}
_QUICK_FEATURES = {"n_components": 32}
# Features need 30,000 steps, hours on text. A tenth of them at ten times the rate comes close: compare the columns RDP
# of Table 4 and of its ablation. Table 4 has the paper's own schedule, all that surrounds it this one.
_IN_SHORT = {"n_steps": 3_000, "learning_rate": 1.0}


def _rdp(**changes: Any) -> Method:
    quick = {name: value for name, value in _QUICK_RDP.items() if name not in changes}
    return Method("rdp:RDP", {**DETECTION_PROTOCOL, **changes}, quick, _R8_SAMPLES, time_limit=None)


def _features(**changes: Any) -> Method:
    config = {"preset": "paper", "n_components": 1_024, **changes}
    return Method("rdp:RDPFeatures", config, {"n_components": 32, "n_steps": 60}, time_limit=None)


def _rotnet(n_blocks: int, n_layers: int) -> Method:
    config = {"n_blocks": n_blocks, "n_layers": n_layers, "n_components": 1_024, "n_steps": 200, "batch_size": 8}
    return Method("rotnet:RotNet", config, {"n_components": 32, "n_steps": 20})


def _rotnet_rdp(n_blocks: int, n_layers: int) -> Method:
    config = {
        "n_blocks": n_blocks,
        "n_layers": n_layers,
        "n_wide": 2_048,
        "n_rotnet_steps": 200,
        "n_components": 1_024,
        **_IN_SHORT,
    }
    quick = {"n_wide": 64, "n_rotnet_steps": 20, "n_components": 32, "n_steps": 60}
    return Method("then_rdp:RotNetRDP", config, quick, time_limit=None)


METHODS: dict[str, Method] = {
    # detection
    "RDP": _rdp(),
    "RDP without L_rdp": _rdp(distance_weight=0.0),
    "RDP without L_aux": _rdp(novelty_weight=0.0),
    "RDP without boosting": _rdp(n_rounds=1),
    # the paper's columns Org_SS and SRP_SS are near RDP without L_aux: the distances alone teach
    "Org_SS": _rdp(mapping="identity", novelty_weight=0.0),
    "SRP_SS": _rdp(mapping="sparse", novelty_weight=0.0),
    "RND": Method("rnd:RND", {**DETECTION_PROTOCOL, "n_rounds": 1}, {"n_members": 3, "n_steps": 60},
                  _R8_SAMPLES, time_limit=None),
    "iForest": Method("iforest:IForest", {"n_trees": 100, "n_rows_per_tree": 256}),
    "AE": Method("autoencoder:AE", {"n_members": 30, "n_steps": 1_000, "activity_penalty": 0.1},
                 _QUICK_ENSEMBLE, time_limit=AN_HOUR),
    "REPEN": Method("repen:REPEN", {"n_members": 30, "n_steps": 1_500}, _QUICK_ENSEMBLE, time_limit=AN_HOUR),
    # 25 epochs on R8: what its 9,467 columns allow five members in ten minutes
    "DAGMM": Method("dagmm:DAGMM", {"n_members": 30, "max_components": 40, "n_epochs": 100}, {"n_members": 2},
                    {"r8_anomaly": {"n_epochs": 25}}, time_limit=AN_HOUR),
    "kNN": Method("knn:KNN"),
    "LOF": Method("lof:LOF"),
    "ECOD": Method("ecod:ECOD"),
    "PCA": Method("pca:PCA"),
    "MCD": Method("mcd:MCD"),
    "OCSVM": Method("ocsvm:OCSVM"),
    "DeepSVDD": Method("deep_svdd:DeepSVDD"),
    "COPOD": Method("copod:COPOD"),
    "HBOS": Method("hbos:HBOS"),
    "CBLOF": Method("cblof:CBLOF"),
    "INNE": Method("inne:INNE"),
    "LODA": Method("loda:LODA"),
    "EIF": Method("eif:EIF", {"n_trees": 100, "n_rows_per_tree": 256}),
    "AE of PyOD": Method("pyod_autoencoder:PyODAutoEncoder"),
    "RDP default": Method("rdp:RDPDefault", time_limit=None),
    # representation
    "RDP features": _features(),
    "RDP features, default": Method("rdp:RDPFeatures", {"preset": "default"}, {"n_steps": 60},
                                    time_limit=None),
    "RDP features in short": _features(**_IN_SHORT),
    "RDP features without L_rdp": _features(**_IN_SHORT, distance_weight=0.0),
    "RDP features without L_aux": _features(**_IN_SHORT, reconstruction_weight=0.0),
    "RDP features from Org": _features(**_IN_SHORT, mapping="identity"),
    "RDP features from SRP": _features(**_IN_SHORT, mapping="sparse"),
    "untrained": _features(n_steps=1, learning_rate=1e-9, reconstruction_weight=0.0),
    "Org": Method("original:Original"),
    "HLLE": Method("hlle:HLLE", {"n_components": 10}, {"n_components": 3}, {"olivetti": {"n_components": 20}}),
    "SRP": Method("srp:SRP", {"n_components": 1_024}, _QUICK_FEATURES),
    "AE features": Method("autoencoder:AEFeatures", {"n_components": 1_024, "n_steps": 300},
                          {"n_components": 32, "n_steps": 100}),
    "COP": Method("coherence_pursuit:COP", {"n_components": 1_024}, _QUICK_FEATURES),
    "SVD": Method("svd:SVD", {"n_components": 100}, {"n_components": 10}),
    "UMAP": Method("umap:UMAP", {"n_components": 10}),
    "Doc2Vec": Method("doc2vec:Doc2Vec", {"n_components": 1_024, "n_epochs": 10}, {"n_components": 16},
                      reads="texts"),
    # the paper has 10,240 dimensions of Doc2Vec on 20news: about an hour of a processor, and 8 GB
    "Doc2Vec+RDP": Method("then_rdp:Doc2VecRDP",
                          {"n_wide": 5_120, "n_epochs": 10, "n_components": 1_024, **_IN_SHORT},
                          {"n_wide": 64, "n_components": 16, "n_steps": 60}, {"20news": {"n_wide": 2_560}},
                          time_limit=None, reads="texts"),
    "RotNet": _rotnet(4, 3),
    "RotNet4x2": _rotnet(4, 2),
    "RotNet4x1": _rotnet(4, 1),
    "RotNet3x1": _rotnet(3, 1),
    "RotNet2x1": _rotnet(2, 1),
    "RotNet+RDP": _rotnet_rdp(4, 3),
    "RotNet4x2+RDP": _rotnet_rdp(4, 2),
    "RotNet4x1+RDP": _rotnet_rdp(4, 1),
    "RotNet3x1+RDP": _rotnet_rdp(3, 1),
    "RotNet2x1+RDP": _rotnet_rdp(2, 1),
}  # fmt: skip


# Appendix A: deeper networks "worked less effectively". Short trainings of small ensembles, the same for every depth
_SHORT_ENSEMBLE = {"n_members": 5, "n_rounds": 3, "n_steps": 1_000}
for _depth, _hidden in {"1 layer": [], "2 layers": [50], "3 layers": [50, 50]}.items():
    METHODS[f"RDP, {_depth}"] = replace(_rdp(**_SHORT_ENSEMBLE, hidden=_hidden), quick=_QUICK_RDP)
    METHODS[f"RDP features, {_depth}"] = _features(**{**_IN_SHORT, "n_components": 256}, hidden=[256] * len(_hidden))


def make(name: str, *, seed: int, **options: Any) -> Any:
    """Make a method, unfitted."""
    module, _, attribute = METHODS[name].path.partition(":")
    return getattr(importlib.import_module(f"experiments.baselines.{module}"), attribute)(seed=seed, **options)


def config_for(
    name: str, data: str, options: dict[str, Any], *, quick: bool = False, n_members: int | None = None
) -> dict[str, Any]:
    """Put together the options of a method on a data set; `n_members` resizes ensembles only.

    An option of None takes out what the method sets, so that the library's own value holds.
    """
    method = METHODS[name]
    own = {**method.config, **method.by_data.get(data, {})}
    kept = {name: value for name, value in own.items() if name not in options}
    given = {name: value for name, value in options.items() if value is not None}
    config = {**kept, **(method.quick if quick else {}), **given}
    if n_members is not None and "n_members" in config:
        config["n_members"] = n_members
    return config

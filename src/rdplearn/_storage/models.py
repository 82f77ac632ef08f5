"""Model files: a fitted model, with its table encoder if it has one, in one file that executes nothing.

`save` writes it whole or not at all; `load` checks everything and gives back a model whose scores are the same to the
last bit. The format is described in `docs/model_files.md`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from rdplearn._feedback.reviewed import Reviewed
from rdplearn._feedback.tables import ReviewedTable
from rdplearn._storage import clusterer as stored_clusterer
from rdplearn._storage import detector as stored_detector
from rdplearn._storage import reviewed as stored_reviewed
from rdplearn._storage import transformer as stored_transformer
from rdplearn._storage.container import looks_like_model_file, opened_model_file, write_model_file
from rdplearn.errors import ModelFileError, TableError
from rdplearn.table import TableEncoder
from rdplearn.table.memory import TableMemory
from rdplearn.table_model import TableModel

if TYPE_CHECKING:
    from rdplearn.clusterer import RDPClusterer
    from rdplearn.detector import RDPDetector
    from rdplearn.transformer import RDPTransformer

KEEPERS = {
    "RDPDetector": stored_detector,
    "RDPTransformer": stored_transformer,
    "RDPClusterer": stored_clusterer,
    "Reviewed": stored_reviewed,
}


def save(
    model: RDPDetector | RDPTransformer | RDPClusterer | Reviewed | TableModel,
    path: str | os.PathLike[str],
    *,
    encoder: TableEncoder | None = None,
) -> None:
    """Write a fitted model to one file, whole or not at all.

    Parameters
    ----------
    model : a fitted estimator, or a `TableModel`, whose encoder is saved too
    path : of the file; an existing one is replaced when the new one is complete
    encoder : fitted `TableEncoder`, optional
        Stored with the model, so that `load` gives back a `TableModel` that takes tables.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import numpy as np, rdplearn
    >>> fitted = rdplearn.RDPTransformer(n_steps=20, random_state=0).fit(np.eye(5))
    >>> rdplearn.save(fitted, path := mkdtemp() + "/model.safetensors")
    >>> bool((rdplearn.load(path).transform(np.eye(5)) == fitted.transform(np.eye(5))).all())
    True
    """
    memory: TableMemory | None = None
    if isinstance(model, TableModel):
        if encoder is not None:
            raise ValueError("A TableModel has an encoder of its own. Leave out the 'encoder' parameter of save.")
        model, encoder, memory = model.estimator, model.encoder, model.memory_
    kind = type(model).__name__
    if kind not in KEEPERS:
        raise TypeError(f"rdplearn.save stores TableModel and {', '.join(KEEPERS)}. Got {kind} instead.")
    description, arrays = KEEPERS[kind].describe(model)
    header = {
        "estimator": kind,
        "model": description,
        "training": training_summary(model),
        "encoder": None if encoder is None else _encoder_state(encoder, description["n_columns"]),
        "memory": None if memory is None else memory.to_dict(),
    }
    write_model_file(path, header, arrays)


def load(path: str | os.PathLike[str]) -> RDPDetector | RDPTransformer | RDPClusterer | Reviewed | TableModel:
    """Read a model file: the estimator, or a `TableModel` if an encoder was stored with it.

    Nothing in the file is executed. The threads to use are not stored: set ``n_jobs`` on the estimator.

    Raises
    ------
    ModelFileError
        In one line, if the file is damaged, not a model, or from a later version.
    """
    with opened_model_file(path) as file:
        keeper = _keeper_of(file.header.get("estimator"))
        description: Any = file.header.get("model")
        layout = keeper.layout(description, file.n_arrays)
        encoder = _rebuild_encoder(file.header.get("encoder"), description["n_columns"])
        model = keeper.rebuild(description, file.read(layout))
        require_finite_results(keeper, model)
        memory = _rebuild_memory(file.header.get("memory"), encoder)
    if encoder is None:
        return model
    whole = ReviewedTable(model, encoder) if isinstance(model, Reviewed) else TableModel(model, encoder)
    whole.memory_ = memory
    return whole


def n_answers_and_rules(path: str | os.PathLike[str]) -> tuple[int, int]:
    """How many answers and muting rules a model file has, from its header; none where it is no model that has any."""
    if not looks_like_model_file(path):
        return 0, 0
    with suppress(ModelFileError), opened_model_file(path) as file:
        description: Any = file.header.get("model")
        if file.header.get("estimator") == "Reviewed" and isinstance(description, Mapping):
            answers, rules = description.get("answers"), description.get("rules")
            return len(answers) if isinstance(answers, list) else 0, len(rules) if isinstance(rules, list) else 0
    return 0, 0


def require_finite_results(keeper: Any, model: Any) -> None:
    """Refuse a model that cannot make numbers of rows like those that it was fitted on: its weights are absurd."""
    with np.errstate(all="ignore"):
        is_sound = keeper.is_sound(model)
    if not is_sound:
        raise ModelFileError(
            "Its weights make no sense: rows like those it was fitted on get results that are not numbers."
        )


def training_summary(model: Any) -> list[dict[str, float]]:
    """For each round: the mean, over members, of the losses at its end and of the rows kept after it.

    A transformer, also that of a clusterer, has one round and one member, which keeps all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from rdplearn import RDPTransformer
    >>> transformer = RDPTransformer(n_steps=20, random_state=0).fit(np.eye(5))
    >>> [list(round) for round in training_summary(transformer)]
    [['round', 'steps', 'distance_loss']]
    """
    learner: Any = getattr(model, "transformer_", model)
    history: list[dict[str, float]] = learner.history_
    last = {(record.get("round", 0), record.get("member", 0)): record for record in history}
    summary = []
    for number in sorted({int(of_round) for of_round, _ in last}):
        records = [record for (of_round, _), record in last.items() if of_round == number]
        means: dict[str, float] = {
            name: sum(min(record[name], 1e300) for record in records) / len(records)
            for name in ("distance_loss", "novelty_loss", "reconstruction_loss", "n_kept")
            if name in records[0]
        }
        summary.append({"round": number, "steps": int(records[0]["step"]), **means})
    return summary


def _keeper_of(kind: Any) -> Any:
    if not isinstance(kind, str) or kind not in KEEPERS:
        raise ModelFileError(f"It holds {kind!r:.60}, which this version of rdplearn does not know.")
    return KEEPERS[kind]


def _encoder_state(encoder: TableEncoder, n_columns: int) -> dict[str, Any]:
    state = encoder.to_dict()
    if len(encoder.feature_names_) != n_columns:
        raise ValueError(
            f"The encoder makes {len(encoder.feature_names_)} columns and the model was fitted on {n_columns}. "
            "Pass the encoder that made the model's matrix."
        )
    return state


def _rebuild_encoder(state: Any, n_columns: int) -> TableEncoder | None:
    if state is None:
        return None
    too_many = ModelFileError(f"Its table encoding does not make the {n_columns} columns that the model needs.")
    if _claimed_text_columns(state) > n_columns:
        raise too_many  # before they are all given names
    try:
        encoder = TableEncoder.from_dict(state)
    except TableError as fault:
        raise ModelFileError(str(fault)) from None
    if len(encoder.feature_names_) != n_columns:
        raise too_many
    return encoder


def _rebuild_memory(state: Any, encoder: TableEncoder | None) -> TableMemory | None:
    """What the model remembers of its table; None in files of earlier versions, which do not say."""
    if state is None or encoder is None:
        return None
    memory = TableMemory.from_dict(state)
    if [(profile.column, profile.kind) for profile in memory.columns] != [
        (column.source, column.kind) for column in encoder.columns_
    ]:
        raise ModelFileError("Its memory of the table is not of the columns that its table encoding has.")
    return memory


def _claimed_text_columns(state: Any) -> int:
    columns = state.get("columns") if isinstance(state, Mapping) else None
    mappings = [column for column in columns if isinstance(column, Mapping)] if isinstance(columns, list) else []
    encodings = [column.get("encoding") for column in mappings]
    claims = [encoding.get("n_buckets") for encoding in encodings if isinstance(encoding, Mapping)]
    return sum(claim for claim in claims if isinstance(claim, int))

"""The parameters of the transformer, checked before the work: what scikit-learn's own checks cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdplearn._model.mapping import check_mapping
from rdplearn._training.torch_options import torch_options
from rdplearn._types import Matrix
from rdplearn.callbacks import KeepRounds, check_callbacks, find
from rdplearn.errors import warn_user

if TYPE_CHECKING:
    from rdplearn.transformer import RDPTransformer

LARGEST_WEIGHTS = 2**34  # bytes of weights and momenta that no table here can want


def check_parameters(transformer: RDPTransformer) -> None:
    """Raise an error that names the parameter, the rule, the value and the remedy if something cannot be."""
    transformer._validate_params()
    check_callbacks(transformer.callbacks, "RDPTransformer")
    if find(KeepRounds, transformer.callbacks) is not None:
        raise ValueError("The 'callbacks' of RDPTransformer hold KeepRounds, which is for RDPDetector. Leave it out.")
    torch_options(transformer)
    check_mapping(transformer.mapping, "RDPTransformer")
    if transformer.distance_weight == 0 and transformer.reconstruction_weight == 0:
        raise ValueError(
            "At least one of 'distance_weight' and 'reconstruction_weight' of RDPTransformer must be positive. Got "
            "0 for both: there would be nothing to learn."
        )
    if transformer.pairs == "all":
        check_belongs_to_all_pairs(transformer)
    elif transformer.inner_product == "unit":
        raise ValueError(
            "The 'inner_product' parameter of RDPTransformer must be 'l1' or 'plain' with pairs='one'. Got 'unit' "
            "instead: use one of these, or pairs='all'."
        )
    if transformer.reconstruction_weight > 0 and transformer.views == "unit":
        raise ValueError(
            "The 'views' parameter of RDPTransformer must be 'minmax' or 'unchanged' when rows are reconstructed, "
            "since the length of a row cannot be brought back. Got 'unit' instead."
        )


def check_belongs_to_all_pairs(transformer: RDPTransformer) -> None:
    """See that nothing was asked for that only the paper's way of pairing has."""
    for name, off in (("reconstruction_weight", 0.0), ("dropout", 0.0), ("max_grad_norm", None)):
        if getattr(transformer, name) != off:
            raise ValueError(
                f"The {name!r} parameter of RDPTransformer must be {off} with pairs='all'. Got "
                f"{getattr(transformer, name)} instead: pass pairs='one', or start from RDPTransformer.paper()."
            )
    if transformer.inner_product == "l1":
        raise ValueError(
            "The 'inner_product' parameter of RDPTransformer must be 'plain' or 'unit' with pairs='all'. Got 'l1' "
            "instead: use one of these, or pairs='one'."
        )
    if transformer.engine == "numba":
        raise ValueError(
            "The 'engine' parameter of RDPTransformer must be 'auto', 'numpy' or 'torch' with pairs='all', which has "
            "no compiled kernels. Got 'numba' instead: use one of these, or pairs='one'."
        )


def check_size(transformer: RDPTransformer, matrix: Matrix) -> None:
    """Refuse weights that no machine here can hold; warn of components that add nothing."""
    (n_rows, n_columns), n_components = matrix.shape, transformer.n_components_
    n_matrices = 4 if transformer.reconstruction_weight > 0 else 2
    size = 4 * n_matrices * n_columns * n_components
    if size > LARGEST_WEIGHTS:
        raise ValueError(
            f"The 'n_components' parameter of RDPTransformer must fit the table. Got {n_components:,}: with "
            f"{n_columns:,} columns, weights and momenta would take {size / 2**30:,.0f} GiB. Pass a smaller number."
        )
    most = min(n_rows, n_columns)
    if transformer.chosen_.slope == 1 and transformer.n_components is not None and n_components > most:
        warn_user(
            f"n_components={n_components} is more than linear features of a table of {n_rows} rows and "
            f"{n_columns} columns can use: at most {most} of them are independent."
        )

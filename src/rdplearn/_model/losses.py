r"""The paper's losses: value and gradient, in plain NumPy.

For a batch of rows with representation :math:`\phi_i` (learned) and random targets :math:`\eta_i` (frozen), where row
`i` has the partner `j = partner(i)` in the same batch:

.. math::

    L_{rdp} = \frac{1}{B} \sum_i \left( \phi_i \cdot \phi_j - \eta_i \cdot \eta_j \right)^2
    \qquad (\text{equation 2})

    L_{aux}^{ad} = \frac{1}{B K} \sum_i \| \phi_i - \eta_i \|^2
    \qquad (\text{equation 4})

    L_{aux}^{clu} = \frac{1}{B D} \sum_i \| x_i - \phi'(\phi_i) \|^2
    \qquad (\text{equation 3})

For features there is also :math:`L_{rdp}` over *all* pairs of the batch, :math:`i \ne j`, instead of one partner a row:
`all_pairs_loss`.

The authors' code divides every vector by its L1 norm before taking the inner products of :math:`L_{rdp}`;
`l1_normalise` and `l1_normalise_gradient` are that variant. These few lines are the oracle of the compiled kernels
and, for small jobs, the engine itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rdplearn._views.unit_rows import SMALLEST_NORM

Floats = npt.NDArray[np.floating]

REPRESENTATION_SLOPE = 0.2


def leaky(values: Floats, slope: float) -> Floats:
    """Leaky rectifier: `values` where positive, `slope * values` elsewhere; overwrites `values`."""
    return np.maximum(values, values.dtype.type(slope) * values, out=values)


def partners(n_rows: int, shift: int) -> npt.NDArray[np.int64]:
    """Pair every row of a batch with the one `shift` places on, around the end.

    The rows of a batch are independent draws, so this pairing is as random as a shuffle, and no row meets itself.
    """
    return (np.arange(n_rows) + shift) % n_rows


def distance_prediction_loss(phi: Floats, eta: Floats, shift: int) -> tuple[float, Floats]:
    """Squared error of the predicted inner products, and its gradient with respect to `phi`.

    Parameters
    ----------
    phi : (n_rows, n_components)
    eta : (n_rows, n_targets)
    shift : int
        Distance to the partner in the batch.
    """
    partner = partners(len(phi), shift)
    errors = np.einsum("ij,ij->i", phi, phi[partner]) - np.einsum("ij,ij->i", eta, eta[partner])
    pull = (2.0 / len(phi)) * errors[:, None]
    gradient = pull * phi[partner]  # row i in its own pair
    gradient += np.roll(pull * phi, shift, axis=0)  # row i as the partner of row i - shift
    return float(np.mean(errors**2)), gradient


def novelty_loss(phi: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """Mean squared difference of representation and targets, and its gradient with respect to `phi`.

    phi, eta : (n_rows, n_components), or (n_members, ...), with a loss for each member
    """
    difference = phi - eta
    n_numbers = difference.shape[-2] * difference.shape[-1]
    loss = sums_of_squares(difference) / n_numbers
    difference *= 2.0 / n_numbers
    return loss, difference


def sums_of_squares(matrices: Floats) -> Floats:
    """Sum of the squares of one matrix, or of each of many: (n_matrices, n_rows, n_columns) to (n_matrices,).

    Examples
    --------
    >>> sums_of_squares(np.array([[[1.0, 2.0]], [[3.0, 4.0]]])).tolist()
    [5.0, 25.0]
    """
    flat = matrices.reshape(*matrices.shape[:-2], -1)
    return np.vecdot(flat, flat)


def l1_normalise(vectors: Floats) -> tuple[Floats, Floats]:
    """Divide every row by its L1 norm; a row of zeros stays as it is. Returns the rows and their norms."""
    norms = np.abs(vectors).sum(axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > SMALLEST_NORM), norms


def l1_normalise_gradient(gradient: Floats, vectors: Floats) -> Floats:
    """Carry a gradient with respect to `l1_normalise(vectors)` back to `vectors`."""
    unit, norms = l1_normalise(vectors)
    along = np.einsum("ij,ij->i", gradient, unit)[:, None]
    return np.divide(
        gradient - np.sign(vectors) * along, norms, out=np.zeros_like(vectors), where=norms > SMALLEST_NORM
    )


def l1_distance_prediction_loss(phi: Floats, eta: Floats, shift: int) -> tuple[float, Floats]:
    """`distance_prediction_loss` on L1-normalised vectors, with the gradient with respect to `phi` itself."""
    loss, gradient = distance_prediction_loss(l1_normalise(phi)[0], l1_normalise(eta)[0], shift)
    return loss, l1_normalise_gradient(gradient, phi)


def all_pairs_loss(phi: Floats, kernel: Floats) -> tuple[Floats, Floats]:
    """Squared error of the inner products of all pairs of rows, and its gradient with respect to `phi`.

    A row's product with itself is left out: it would have to hold what belongs to that row alone.

    Parameters
    ----------
    phi : (n_rows, n_components), or (n_members, ...), with a loss for each member
    kernel : (n_rows, n_rows), the inner products to be predicted, or (n_members, ...)
    """
    n_rows = phi.shape[-2]
    errors = phi @ phi.swapaxes(-1, -2)
    errors -= kernel
    errors.reshape(*errors.shape[:-2], -1)[..., :: n_rows + 1] = 0.0
    n_pairs = max(1, n_rows * (n_rows - 1))
    pull = errors @ phi
    pull *= 4.0 / n_pairs
    return sums_of_squares(errors) / n_pairs, pull


def reconstruction_loss(decoded: Floats, rows: Floats, cell_weights: Floats, n_columns: int) -> tuple[float, Floats]:
    """Mean squared error of decoded rows, and its gradient with respect to `decoded`.

    Parameters
    ----------
    decoded, rows : (n_rows, n_chosen), all columns or some of them
    cell_weights : (n_rows, n_chosen) or what broadcasts to it
        How many cells each one stands for; ones if all are there.
    n_columns : int
        Columns that the mean is taken over.
    """
    difference = decoded - rows
    pull = difference * (cell_weights / (len(rows) * n_columns))
    return float(np.vdot(difference, pull)), 2.0 * pull


def unit_normalise_gradient(gradient: Floats, unit: Floats, lengths: Floats) -> Floats:
    """Carry a gradient with respect to the rows of length 1 back to the rows as they were."""
    across = gradient - unit * np.einsum("...ij,...ij->...i", gradient, unit)[..., None]
    return np.divide(across, lengths, out=np.zeros_like(across), where=lengths > SMALLEST_NORM)

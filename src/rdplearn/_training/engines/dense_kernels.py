"""The training loop of one member on dense rows, fused and compiled.

Each small function mirrors a formula of `losses.py` or `plain.py`; `train_dense` puts them together so that a
whole stretch of steps runs without returning to Python and without the interpreter lock. All arrays are float32 and
C-contiguous, so each function compiles once, and the result is cached on disk. Sparse rows: `sparse_kernels.py`.
"""

from __future__ import annotations

import numba
import numpy as np

from rdplearn._model.compiling import compiling
from rdplearn._model.losses import REPRESENTATION_SLOPE
from rdplearn._training import random_stream
from rdplearn._views.unit_rows import SMALLEST_NORM

# Sums may be reordered and products fused; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
jit = compiling(fastmath=FAST)
inlined = numba.njit(nogil=True, fastmath=FAST, inline="always")

scramble = inlined(random_stream.scramble)
GOLDEN = random_stream.GOLDEN
SLOPE = np.float32(REPRESENTATION_SLOPE)
TINY = np.float32(SMALLEST_NORM)


@jit
def draw_batch(key, kept, batch):
    """Draw rows with replacement among those kept."""
    n_kept = np.uint64(kept.size)
    for i in range(batch.size):
        word = scramble(np.uint32(np.uint32(i) * GOLDEN + key))
        batch[i] = kept[np.int64((np.uint64(word) * n_kept) >> np.uint64(32))]


@jit
def draw_shift(key, batch_size):
    """Draw the distance to the partner: 1, ..., batch_size - 1."""
    word = scramble(np.uint32(key))
    return 1 + np.int64((np.uint64(word) * np.uint64(batch_size - 1)) >> np.uint64(32))


@jit
def activate(phi, slopes, bias, key, drop_limit):
    """Add the bias, rectify and drop units, in place; `slopes` takes the derivative of all of it.

    phi, slopes : (batch_size, n_components)
    """
    n_rows, n_units = phi.shape
    keep_scale = np.float32(1.0 / (1.0 - drop_limit / 2.0**32))
    leaky_scale = np.float32(SLOPE * keep_scale)
    limit = np.uint32(drop_limit)
    for i in range(n_rows):
        start = np.uint32(i * n_units)
        for k in range(n_units):
            z = phi[i, k] + bias[k]
            word = scramble(np.uint32(np.uint32(start + np.uint32(k)) * GOLDEN + key))
            slope = keep_scale if z > np.float32(0.0) else leaky_scale
            slope = slope if word >= limit else np.float32(0.0)
            slopes[i, k] = slope
            phi[i, k] = z * slope


@jit
def gather(rows, batch, batch_rows):
    """Copy the drawn rows next to each other."""
    for i in range(batch.size):
        row = batch[i]
        for c in range(rows.shape[1]):
            batch_rows[i, c] = rows[row, c]


@jit
def gather_numbers(numbers, batch, batch_numbers):
    for i in range(batch.size):
        batch_numbers[i] = numbers[batch[i]]


@jit
def dot(left, right):
    total = np.float32(0.0)
    for k in range(left.size):
        total += left[k] * right[k]
    return total


@jit
def inverse_l1_norms(vectors, inverse):
    """1 / L1 norm of every row; 0 for a row of zeros."""
    for i in range(vectors.shape[0]):
        norm = np.float32(0.0)
        for k in range(vectors.shape[1]):
            norm += abs(vectors[i, k])
        inverse[i] = np.float32(1.0) / norm if norm > TINY else np.float32(0.0)


@jit
def pair_errors(phi, phi_scale, targets, target_scale, shift, products, errors):
    """Error of every predicted inner product; returns the mean of their squares.

    products : takes the inner product of every row's φ with its partner's, before scaling
    """
    n_rows = errors.size
    total = np.float32(0.0)
    for i in range(n_rows):
        j = i + shift if i + shift < n_rows else i + shift - n_rows
        products[i] = dot(phi[i], phi[j])
        wanted = dot(targets[i], targets[j]) * target_scale[i] * target_scale[j]
        errors[i] = products[i] * phi_scale[i] * phi_scale[j] - wanted
        total += errors[i] * errors[i]
    return total / np.float32(n_rows)


@jit
def add_novelty_gradient(gradient, phi, targets, weight):
    """Add the gradient of the novelty loss by `phi`; returns the loss."""
    n_rows, n_units = phi.shape
    scale = np.float32(2.0) * weight / np.float32(n_rows * n_units)
    total = np.float32(0.0)
    for i in range(n_rows):
        for k in range(n_units):
            difference = phi[i, k] - targets[i, k]
            total += difference * difference
            gradient[i, k] += scale * difference
    return total / np.float32(n_rows * n_units)


@jit
def add_bias(decoded, bias):
    for i in range(decoded.shape[0]):
        for c in range(decoded.shape[1]):
            decoded[i, c] += bias[c]


@jit
def set_pull(difference, column_weights, weight, n_columns, bias_gradient):
    """Turn decoded rows minus rows into the gradient of the weighted loss, in place; returns the loss.

    difference : (batch_size, n_chosen); column_weights, bias_gradient : (n_chosen,)
    """
    n_rows = difference.shape[0]
    scale = np.float32(1.0) / np.float32(n_rows * n_columns)
    total = np.float32(0.0)
    bias_gradient[:] = np.float32(0.0)
    for i in range(n_rows):
        for c in range(difference.shape[1]):
            share = difference[i, c] * column_weights[c] * scale
            total += difference[i, c] * share
            pull = np.float32(2.0) * weight * share
            difference[i, c] = pull
            bias_gradient[c] += pull
    return total


@jit
def decode_dense(batch_rows, phi, decoding, pull, gradient):
    """The reconstruction loss of a batch; overwrites its gradients by φ and by the decoder's parameters.

    decoding : see `train_dense`; pull : room for (batch_size, n_columns)
    """
    decoder, decoder_bias, _, _, decoder_gradient, decoder_bias_gradient, weight, n_columns = decoding
    np.dot(phi, decoder.T, pull)
    add_bias(pull, decoder_bias)
    pull -= batch_rows
    loss = set_pull(pull, np.ones(pull.shape[1], np.float32), weight, n_columns, decoder_bias_gradient)
    np.dot(pull, decoder, gradient)
    np.dot(pull.T, phi, decoder_gradient)
    return loss


@jit
def finish_gradient(gradient, phi, slopes, phi_scale, products, errors, shift, weight, through_norm, bias_gradient):
    """Add the gradient of the distance prediction loss, and carry all of it back through φ's activation, in place.

    Row i takes part in two pairs: its own (partner i + shift) and the one whose partner it is (i - shift). With
    `through_norm` the vectors were divided by their L1 norm, and the gradient goes back through that as well.
    """
    n_rows, n_units = phi.shape
    scale = np.float32(2.0) * weight / np.float32(n_rows)
    bias_gradient[:] = np.float32(0.0)
    for i in range(n_rows):
        after = i + shift if i + shift < n_rows else i + shift - n_rows
        before = i - shift if i >= shift else i - shift + n_rows
        own = scale * errors[i] * phi_scale[after] * phi_scale[i]
        other = scale * errors[before] * phi_scale[before] * phi_scale[i]
        along = (own * products[i] + other * products[before]) * phi_scale[i] if through_norm else np.float32(0.0)
        for k in range(n_units):
            signed = along if phi[i, k] > 0 else -along if phi[i, k] < 0 else np.float32(0.0)
            total = (gradient[i, k] + own * phi[after, k] + other * phi[before, k] - signed) * slopes[i, k]
            gradient[i, k] = total
            bias_gradient[k] += total


@jit
def batch_room(batch_size, n_targets):
    """Room for the indices of a batch's rows, their targets, and 1 / L1 norm of these."""
    targets = np.empty((batch_size, n_targets), np.float32)
    return np.empty(batch_size, np.int64), targets, np.empty(batch_size, np.float32)


@jit
def draw_with_targets(key, kept, targets, target_scale, drawn):
    """Draw a batch and put its targets and their scale next to each other; drawn : see `batch_room`."""
    batch, batch_targets, batch_scale = drawn
    draw_batch(key, kept, batch)
    gather(targets, batch, batch_targets)
    gather_numbers(target_scale, batch, batch_scale)


@jit
def phi_room(batch_size, n_units):
    """Room for φ of a batch, the slopes of its activation, and a gradient."""
    phi = np.empty((batch_size, n_units), np.float32)
    return phi, np.empty_like(phi), np.empty_like(phi)


@jit
def pair_scratch(batch_size):
    """Room for 1 / L1 norm of φ, the inner products of pairs, and their errors."""
    zeros = np.zeros(batch_size, np.float32)
    return np.ones(batch_size, np.float32), zeros, zeros.copy()


@jit
def pair_losses(
    gradient, phi, slopes, targets, target_scale, shift, loss_weights, through_norm, scratch, bias_gradient
):
    """Add the gradients of novelty and distance prediction, and carry all of it back through φ; returns both losses.

    target_scale : 1 / L1 norm of each target, or ones
    """
    distance_weight, novelty_weight = loss_weights
    phi_scale, products, errors = scratch
    distance, novelty = np.float32(0.0), np.float32(0.0)
    if novelty_weight > 0:
        novelty = add_novelty_gradient(gradient, phi, targets, novelty_weight)
    if distance_weight > 0:
        if through_norm:
            inverse_l1_norms(phi, phi_scale)
        distance = pair_errors(phi, phi_scale, targets, target_scale, shift, products, errors)
    finish_gradient(
        gradient, phi, slopes, phi_scale, products, errors, shift, distance_weight, through_norm, bias_gradient
    )
    return distance, novelty


@jit
def squared_norm(values):
    total = np.float32(0.0)
    for i in range(values.shape[0]):
        total += dot(values[i], values[i])
    return total


@jit
def clip_factor(squared, max_norm):
    """What the gradient is multiplied with so that its norm is at most `max_norm`."""
    norm = np.sqrt(squared)
    return max_norm / norm if norm > max_norm else np.float32(1.0)


@jit
def descend(weights, momenta, gradient, factor, learning_rate, momentum):
    """One step of gradient descent with momentum on one vector of weights."""
    for k in range(weights.size):
        momenta[k] = momentum * momenta[k] + factor * gradient[k]
        weights[k] -= learning_rate * momenta[k]


@jit
def descend_decoder(decoding, factor, rates):
    """One step of gradient descent with momentum on all of the decoder's parameters."""
    decoder, decoder_bias, momenta, bias_momenta, gradient, bias_gradient, _, _ = decoding
    learning_rate, momentum, _ = rates
    for c in range(decoder.shape[0]):
        descend(decoder[c], momenta[c], gradient[c], factor, learning_rate, momentum)
    descend(decoder_bias, bias_momenta, bias_gradient, factor, learning_rate, momentum)


@jit
def train_dense(
    rows, targets, target_scale, kept, keys, batch_size, parameters, momenta, loss_weights, through_norm, drop_limit,
    rates, decoding,
):  # fmt: skip
    """Run `len(keys)` steps on dense rows, in place; returns the mean distance, novelty and reconstruction losses.

    rows : (n_rows, n_columns); targets : (n_rows, n_targets); target_scale : 1 / L1 norm of each, or ones
    kept : the rows that may be drawn; keys : (n_steps, 4), for rows, partner, dropout, columns
    parameters, momenta : pairs of W (n_columns, n_components) and b (n_components,)
    loss_weights : distance, novelty; rates : learning rate, momentum, largest gradient norm
    decoding : None without reconstruction, and then compiled without it; else the decoder's weights, which lie as W
        does, and bias, the momenta of both, room for the gradients of both, the weight of the loss, and how many
        columns it is a mean over
    """
    weights, bias = parameters
    weight_momenta, bias_momenta = momenta
    learning_rate, momentum, max_norm = rates
    n_columns, n_units = weights.shape
    batch_rows = np.empty((batch_size, n_columns), np.float32)
    drawn = batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    scratch = pair_scratch(batch_size)
    weight_gradient = np.empty_like(weights)
    bias_gradient = np.empty_like(bias)
    pull = np.empty_like(batch_rows)
    distance_total, novelty_total, reconstruction_total = 0.0, 0.0, 0.0
    for step in range(keys.shape[0]):
        draw_with_targets(keys[step, 0], kept, targets, target_scale, drawn)
        gather(rows, batch, batch_rows)
        np.dot(batch_rows, weights, phi)
        activate(phi, slopes, bias, keys[step, 2], drop_limit)
        if decoding is None:
            gradient[:] = np.float32(0.0)
        else:
            reconstruction_total += decode_dense(batch_rows, phi, decoding, pull, gradient)
        shift = draw_shift(keys[step, 1], batch_size)
        distance, novelty = pair_losses(
            gradient, phi, slopes, batch_targets, batch_scale, shift, loss_weights, through_norm, scratch,
            bias_gradient,
        )  # fmt: skip
        np.dot(batch_rows.T, gradient, weight_gradient)
        squared = squared_norm(weight_gradient) + dot(bias_gradient, bias_gradient)
        if decoding is not None:
            squared += squared_norm(decoding[4]) + dot(decoding[5], decoding[5])
        factor = clip_factor(squared, max_norm)
        for c in range(n_columns):
            descend(weights[c], weight_momenta[c], weight_gradient[c], factor, learning_rate, momentum)
        descend(bias, bias_momenta, bias_gradient, factor, learning_rate, momentum)
        if decoding is not None:
            descend_decoder(decoding, factor, rates)
        distance_total += distance
        novelty_total += novelty
    n_steps = keys.shape[0]
    return distance_total / n_steps, novelty_total / n_steps, reconstruction_total / n_steps

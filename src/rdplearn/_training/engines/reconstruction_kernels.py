"""The training loop with the reconstruction loss on dense rows, fused and compiled.

Put together from the pieces of `dense_kernels.py`; what is new here mirrors `decoder.py` and `plain_reconstruction.py`. The
decoder's weights lie as W does, a row for each column of the table. Sparse rows: `sparse_reconstruction_kernels.py`.
"""

from __future__ import annotations

import numpy as np

from rdplearn._training.engines.dense_kernels import (
    activate,
    batch_room,
    clip_factor,
    descend,
    dot,
    draw_shift,
    draw_with_targets,
    finish_gradient,
    gather,
    inverse_l1_norms,
    jit,
    pair_errors,
    pair_scratch,
    phi_room,
    squared_norm,
)


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
def add_distance_gradient(
    gradient, phi, slopes, targets, target_scale, shift, weight, through_norm, scratch, bias_gradient
):
    """Add the gradient of the distance prediction loss and carry all of it back through φ; returns that loss."""
    phi_scale, products, errors = scratch
    distance = np.float32(0.0)
    if weight > 0:
        if through_norm:
            inverse_l1_norms(phi, phi_scale)
        distance = pair_errors(phi, phi_scale, targets, target_scale, shift, products, errors)
    finish_gradient(gradient, phi, slopes, phi_scale, products, errors, shift, weight, through_norm, bias_gradient)
    return distance


@jit
def train_dense(
    rows, targets, target_scale, kept, keys, batch_size, parameters, momenta, n_columns_of_mean, loss_weights,
    through_norm, drop_limit, rates,
):  # fmt: skip
    """Run `len(keys)` steps on dense rows, in place; returns the mean distance and reconstruction losses.

    keys : (n_steps, 4), for rows, partner, dropout, columns
    parameters, momenta : W (n_columns, n_components), b (n_components,), the decoder's weights as W, c (n_columns,)
    loss_weights : distance, reconstruction; the other arguments are those of `kernels.train_dense`
    """
    weights, bias, decoder, decoder_bias = parameters
    learning_rate, momentum, max_norm = rates
    distance_weight, reconstruction_weight = loss_weights
    n_columns, n_units = weights.shape
    batch_rows = np.empty((batch_size, n_columns), np.float32)
    drawn = batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    pull = np.empty((batch_size, n_columns), np.float32)
    all_columns = np.ones(n_columns, np.float32)
    scratch = pair_scratch(batch_size)
    weight_gradient, decoder_gradient = np.empty_like(weights), np.empty_like(decoder)
    bias_gradient, decoder_bias_gradient = np.empty_like(bias), np.empty_like(decoder_bias)
    distance_total, reconstruction_total = 0.0, 0.0
    for step in range(keys.shape[0]):
        draw_with_targets(keys[step, 0], kept, targets, target_scale, drawn)
        gather(rows, batch, batch_rows)
        np.dot(batch_rows, weights, phi)
        activate(phi, slopes, bias, keys[step, 2], drop_limit)
        np.dot(phi, decoder.T, pull)
        add_bias(pull, decoder_bias)
        pull -= batch_rows
        reconstruction_total += set_pull(
            pull, all_columns, reconstruction_weight, n_columns_of_mean, decoder_bias_gradient
        )
        np.dot(pull, decoder, gradient)
        np.dot(pull.T, phi, decoder_gradient)
        shift = draw_shift(keys[step, 1], batch_size)
        distance_total += add_distance_gradient(
            gradient, phi, slopes, batch_targets, batch_scale, shift, distance_weight, through_norm, scratch,
            bias_gradient,
        )  # fmt: skip
        np.dot(batch_rows.T, gradient, weight_gradient)
        squared = squared_norm(weight_gradient) + dot(bias_gradient, bias_gradient)
        squared += squared_norm(decoder_gradient) + dot(decoder_bias_gradient, decoder_bias_gradient)
        factor = clip_factor(squared, max_norm)
        for c in range(n_columns):
            descend(weights[c], momenta[0][c], weight_gradient[c], factor, learning_rate, momentum)
            descend(decoder[c], momenta[2][c], decoder_gradient[c], factor, learning_rate, momentum)
        descend(bias, momenta[1], bias_gradient, factor, learning_rate, momentum)
        descend(decoder_bias, momenta[3], decoder_bias_gradient, factor, learning_rate, momentum)
    return distance_total / keys.shape[0], reconstruction_total / keys.shape[0]

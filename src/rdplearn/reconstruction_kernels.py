"""The training loop with the reconstruction loss, fused and compiled: dense rows and sparse rows.

Put together from the pieces of `kernels.py`; what is new here mirrors `decoder.py` and `plain_reconstruction.py`. The
decoder's weights lie as W does, a row for each column of the table, so that on sparse rows a step touches only the rows
of the columns chosen for it, and momentum is caught up lazily in both.
"""

from __future__ import annotations

import numpy as np

from rdplearn.kernels import (
    GOLDEN,
    activate,
    batch_room,
    catch_up,
    clip_factor,
    columns_in_use,
    descend,
    dot,
    draw_batch,
    draw_shift,
    finish_gradient,
    gather,
    gather_numbers,
    inverse_l1_norms,
    jit,
    pair_errors,
    pair_scratch,
    phi_room,
    project_sparse,
    scramble,
    sparse_weight_gradient,
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
    batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    pull = np.empty((batch_size, n_columns), np.float32)
    all_columns = np.ones(n_columns, np.float32)
    scratch = pair_scratch(batch_size)
    weight_gradient, decoder_gradient = np.empty_like(weights), np.empty_like(decoder)
    bias_gradient, decoder_bias_gradient = np.empty_like(bias), np.empty_like(decoder_bias)
    distance_total, reconstruction_total = 0.0, 0.0
    for step in range(keys.shape[0]):
        draw_batch(keys[step, 0], kept, batch)
        gather(rows, batch, batch_rows)
        gather(targets, batch, batch_targets)
        gather_numbers(target_scale, batch, batch_scale)
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


@jit
def choose_others(key, n_used, n_sampled, slot_of, columns, column_weights):
    """Give slots to columns that the batch does not contain, as `decoder.choose_columns`; returns how many in all."""
    n_columns = slot_of.size
    n_others = n_columns - n_used
    n_chosen = n_used
    column_weights[:n_used] = np.float32(1.0)
    if n_others <= 2 * n_sampled:
        for column in range(n_columns):
            if slot_of[column] < 0:
                slot_of[column] = n_chosen
                columns[n_chosen] = column
                column_weights[n_chosen] = np.float32(1.0)
                n_chosen += 1
        return n_chosen
    position = np.uint32(0)
    stands_for = np.float32(n_others / n_sampled)
    while n_chosen < n_used + n_sampled:
        word = scramble(np.uint32(position * GOLDEN + key))
        column = np.int64((np.uint64(word) * np.uint64(n_columns)) >> np.uint64(32))
        position = np.uint32(position + np.uint32(1))
        if slot_of[column] < 0:
            slot_of[column] = n_chosen
            columns[n_chosen] = column
            column_weights[n_chosen] = stands_for
            n_chosen += 1
    return n_chosen


@jit
def catch_up_columns(columns, weights, momenta, last_used, step, learning_rate, momentum, decay):
    """Bring the rows of `weights` that belong to some columns up to the step before this one."""
    for slot in range(columns.size):
        column = columns[slot]
        idle = step - 1 - last_used[column]
        if last_used[column] >= 0 and idle > 0:
            catch_up(weights[column], momenta[column], idle, learning_rate, momentum, decay)
        last_used[column] = step


@jit
def subtract_sparse(data, indices, indptr, batch, slot_of, decoded):
    """Subtract the batch's rows from the decoded ones."""
    for i in range(batch.size):
        for p in range(indptr[batch[i]], indptr[batch[i] + 1]):
            decoded[i, slot_of[indices[p]]] -= data[p]


@jit
def train_sparse(
    data, indices, indptr, n_used_most, n_sampled, last_used, decoder_last_used, first_step, decay,
    targets, target_scale, kept, keys, batch_size, parameters, momenta, n_columns_of_mean, loss_weights,
    through_norm, drop_limit, rates,
):  # fmt: skip
    """Run `len(keys)` steps on CSR rows, in place; returns the mean distance and reconstruction losses.

    n_sampled : how many columns that the batch does not contain take part in the reconstruction loss, at most
    last_used, decoder_last_used : (n_columns,), the last step that moved each row of W and of the decoder
    The other arguments are those of `train_dense` here and of `kernels.train_sparse`.
    """
    weights, bias, decoder, flat_decoder_bias = parameters
    decoder_bias = flat_decoder_bias.reshape(-1, 1)
    decoder_bias_momenta = momenta[3].reshape(-1, 1)
    learning_rate, momentum, max_norm = rates
    distance_weight, reconstruction_weight = loss_weights
    n_columns, n_units = weights.shape
    n_most = min(n_columns, n_used_most + 2 * n_sampled)
    batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    scratch = pair_scratch(batch_size)
    slot_of = np.full(n_columns, -1, np.int64)
    columns = np.empty(n_most, np.int64)
    column_weights = np.empty(n_most, np.float32)
    room = np.empty(batch_size * n_most, np.float32)
    chosen = np.empty((n_most, n_units), np.float32)
    chosen_bias = np.empty(n_most, np.float32)
    chosen_gradient = np.empty((n_most, n_units), np.float32)
    chosen_bias_gradient = np.empty(n_most, np.float32)
    weight_gradient = np.empty((min(n_columns, n_used_most), n_units), np.float32)
    bias_gradient = np.empty_like(bias)
    distance_total, reconstruction_total = 0.0, 0.0
    for offset in range(keys.shape[0]):
        step = first_step + offset
        draw_batch(keys[offset, 0], kept, batch)
        gather(targets, batch, batch_targets)
        gather_numbers(target_scale, batch, batch_scale)
        n_used = columns_in_use(indptr, indices, batch, slot_of, columns)
        n_chosen = choose_others(keys[offset, 3], n_used, n_sampled, slot_of, columns, column_weights)
        catch_up_columns(columns[:n_used], weights, momenta[0], last_used, step, learning_rate, momentum, decay)
        for slot in range(n_chosen):  # c follows the decoder's weights: both move in the same steps
            column = columns[slot]
            idle = step - 1 - decoder_last_used[column]
            if decoder_last_used[column] >= 0 and idle > 0:
                catch_up(decoder_bias[column], decoder_bias_momenta[column], idle, learning_rate, momentum, decay)
        catch_up_columns(
            columns[:n_chosen], decoder, momenta[2], decoder_last_used, step, learning_rate, momentum, decay
        )
        project_sparse(data, indices, indptr, batch, weights, phi)
        activate(phi, slopes, bias, keys[offset, 2], drop_limit)
        gather(decoder, columns[:n_chosen], chosen)
        gather_numbers(flat_decoder_bias, columns[:n_chosen], chosen_bias)
        pull = room[: batch_size * n_chosen].reshape(batch_size, n_chosen)
        np.dot(phi, chosen[:n_chosen].T, pull)
        add_bias(pull, chosen_bias)
        subtract_sparse(data, indices, indptr, batch, slot_of, pull)
        reconstruction_total += set_pull(
            pull, column_weights, reconstruction_weight, n_columns_of_mean, chosen_bias_gradient[:n_chosen]
        )
        np.dot(pull, chosen[:n_chosen], gradient)
        np.dot(pull.T, phi, chosen_gradient[:n_chosen])
        shift = draw_shift(keys[offset, 1], batch_size)
        distance_total += add_distance_gradient(
            gradient, phi, slopes, batch_targets, batch_scale, shift, distance_weight, through_norm, scratch,
            bias_gradient,
        )  # fmt: skip
        weight_gradient[:n_used] = np.float32(0.0)
        sparse_weight_gradient(data, indices, indptr, batch, slot_of, gradient, weight_gradient)
        squared = squared_norm(weight_gradient[:n_used]) + dot(bias_gradient, bias_gradient)
        squared += squared_norm(chosen_gradient[:n_chosen])
        squared += dot(chosen_bias_gradient[:n_chosen], chosen_bias_gradient[:n_chosen])
        factor = clip_factor(squared, max_norm)
        for slot in range(n_chosen):
            column = columns[slot]
            if slot < n_used:
                descend(weights[column], momenta[0][column], weight_gradient[slot], factor, learning_rate, momentum)
            descend(decoder[column], momenta[2][column], chosen_gradient[slot], factor, learning_rate, momentum)
            descend(
                decoder_bias[column], decoder_bias_momenta[column], chosen_bias_gradient[slot : slot + 1], factor,
                learning_rate, momentum,
            )  # fmt: skip
            slot_of[column] = -1
        descend(bias, momenta[1], bias_gradient, factor, learning_rate, momentum)
    return distance_total / keys.shape[0], reconstruction_total / keys.shape[0]

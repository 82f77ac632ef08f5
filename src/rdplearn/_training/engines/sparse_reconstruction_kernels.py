"""The training loop with the reconstruction loss on sparse rows, fused and compiled.

Put together from the pieces of `sparse_kernels.py` and `reconstruction_kernels.py`; what is new here mirrors
`decoder.py`. Where a row has a value, it is decoded by itself; where it has none, with the columns that were sampled
for all rows of the batch together. A step touches the decoder's rows of these columns only, and their momentum is
caught up as W's is.
"""

from __future__ import annotations

import numpy as np

from rdplearn._training.engines.dense_kernels import (
    GOLDEN,
    activate,
    batch_room,
    clip_factor,
    descend,
    dot,
    draw_shift,
    draw_with_targets,
    gather,
    gather_numbers,
    jit,
    pair_scratch,
    phi_room,
    scramble,
    squared_norm,
)
from rdplearn._training.engines.reconstruction_kernels import add_bias, add_distance_gradient, set_pull
from rdplearn._training.engines.sparse_kernels import (
    catch_up_used,
    column_room,
    descend_columns,
    project_columns,
    set_weight_gradient,
    turn_by_column,
)


@jit
def sample_columns(key, limits):
    """The columns sampled in one step, as `decoder.sample_columns`."""
    sampled = np.empty(limits.size, np.int64)
    n_sampled = 0
    for column in range(limits.size):
        word = scramble(np.uint32(np.uint32(column) * GOLDEN + key))
        if np.uint64(word) < limits[column]:
            sampled[n_sampled] = column
            n_sampled += 1
    return sampled[:n_sampled].copy()


@jit
def add_slots(sampled, n_used, slot_of, columns):
    """Give slots to sampled columns that the batch does not contain; returns how many slots there are in all."""
    n_slots = n_used
    for column in sampled:
        if slot_of[column] < 0:
            slot_of[column] = n_slots
            columns[n_slots] = column
            n_slots += 1
    return n_slots


@jit
def blank_filled(turned, n_used, slot_of, sampled, difference):
    """Set the sampled columns' differences to zero where a row has a value."""
    _, starts, owners, values = turned
    for c in range(sampled.size):
        slot = slot_of[sampled[c]]
        if slot < n_used:
            for p in range(starts[slot], starts[slot + 1]):
                if values[p] != np.float32(0.0):
                    difference[owners[p], c] = np.float32(0.0)


@jit
def decode_zeros(
    turned, n_used, slot_of, sampled, stands_for, phi, decoder, decoder_bias, weight, n_columns, gradient,
    decoder_gradient, decoder_bias_gradient,
):  # fmt: skip
    """The loss where rows have no value, estimated from the sampled columns, with its gradients; returns it."""
    n_rows, n_units = phi.shape
    chosen = np.empty((sampled.size, n_units), np.float32)
    chosen_bias, chosen_weights = np.empty(sampled.size, np.float32), np.empty(sampled.size, np.float32)
    gather(decoder, sampled, chosen)
    gather_numbers(decoder_bias, sampled, chosen_bias)
    gather_numbers(stands_for, sampled, chosen_weights)
    pull = np.empty((n_rows, sampled.size), np.float32)
    np.dot(phi, chosen.T, pull)
    add_bias(pull, chosen_bias)
    blank_filled(turned, n_used, slot_of, sampled, pull)
    loss = set_pull(pull, chosen_weights, weight, n_columns, chosen_bias)
    np.dot(pull, chosen, gradient)
    np.dot(pull.T, phi, chosen)
    for c in range(sampled.size):
        slot = slot_of[sampled[c]]
        decoder_gradient[slot] = chosen[c]
        decoder_bias_gradient[slot] = chosen_bias[c]
    return loss


@jit
def decode_filled(
    turned, n_used, phi, decoder, decoder_bias, weight, n_columns, gradient, decoder_gradient, decoder_bias_gradient
):
    """Add the loss where rows have values and its gradients; returns it."""
    columns, starts, owners, values = turned
    scale = np.float32(1.0) / np.float32(phi.shape[0] * n_columns)
    total = np.float32(0.0)
    for slot in range(n_used):
        column_weights, bias = decoder[columns[slot]], decoder_bias[columns[slot]]
        line = decoder_gradient[slot]
        for p in range(starts[slot], starts[slot + 1]):
            if values[p] == np.float32(0.0):
                continue
            row, row_gradient = phi[owners[p]], gradient[owners[p]]
            difference = dot(row, column_weights) + bias - values[p]
            total += difference * difference * scale
            pull = np.float32(2.0) * weight * scale * difference
            decoder_bias_gradient[slot] += pull
            for k in range(line.size):
                line[k] += pull * row[k]
                row_gradient[k] += pull * column_weights[k]
    return total


@jit
def train_sparse(
    data, indices, indptr, longest_row, last_used, weight_gradient, decoder_last_used, decoder_gradient,
    limits, stands_for, first_step, decay,
    targets, target_scale, kept, keys, batch_size, parameters, momenta, n_columns_of_mean, loss_weights,
    through_norm, drop_limit, rates,
):  # fmt: skip
    """Run `len(keys)` steps on CSR rows, in place; returns the mean distance and reconstruction losses.

    decoder_last_used : (n_columns,), the last step that moved each row of the decoder; decoder_gradient : room
    limits, stands_for : (n_columns,), the word below which a column is sampled, and 1 / its chance of that
    The other arguments are those of `reconstruction_kernels.train_dense` and of `sparse_kernels.train_sparse`.
    """
    weights, bias, decoder, decoder_bias = parameters
    weight_momenta, bias_momenta, decoder_momenta, decoder_bias_momenta = momenta
    learning_rate, momentum, max_norm = rates
    distance_weight, reconstruction_weight = loss_weights
    n_columns, n_units = weights.shape
    drawn = batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    scratch = pair_scratch(batch_size)
    slot_of = np.full(n_columns, -1, np.int64)
    turned = column_room(n_columns, batch_size, longest_row)
    columns = turned[0]
    bias_gradient = np.empty_like(bias)
    decoder_bias_gradient = np.empty_like(decoder_bias)
    c, c_momenta = decoder_bias.reshape(-1, 1), decoder_bias_momenta.reshape(-1, 1)  # rows of one number, as W's are
    distance_total, reconstruction_total = 0.0, 0.0
    for offset in range(keys.shape[0]):
        step = first_step + offset
        draw_with_targets(keys[offset, 0], kept, targets, target_scale, drawn)
        n_used = turn_by_column(data, indices, indptr, batch, slot_of, turned)
        sampled = sample_columns(keys[offset, 3], limits)
        n_slots = add_slots(sampled, n_used, slot_of, columns)
        touched = columns[:n_slots]
        catch_up_used(columns[:n_used], weights, weight_momenta, last_used, step, rates, decay)
        catch_up_used(touched, c, c_momenta, decoder_last_used, step, rates, decay)
        catch_up_used(touched, decoder, decoder_momenta, decoder_last_used, step, rates, decay)
        last_used[columns[:n_used]] = step
        decoder_last_used[touched] = step
        project_columns(turned, n_used, weights, phi)
        activate(phi, slopes, bias, keys[offset, 2], drop_limit)
        decoder_gradient[:n_used] = np.float32(0.0)
        decoder_bias_gradient[:n_used] = np.float32(0.0)
        reconstruction_total += decode_zeros(
            turned, n_used, slot_of, sampled, stands_for, phi, decoder, decoder_bias, reconstruction_weight,
            n_columns_of_mean, gradient, decoder_gradient, decoder_bias_gradient,
        )  # fmt: skip
        reconstruction_total += decode_filled(
            turned, n_used, phi, decoder, decoder_bias, reconstruction_weight, n_columns_of_mean, gradient,
            decoder_gradient, decoder_bias_gradient,
        )  # fmt: skip
        shift = draw_shift(keys[offset, 1], batch_size)
        distance_total += add_distance_gradient(
            gradient, phi, slopes, batch_targets, batch_scale, shift, distance_weight, through_norm, scratch,
            bias_gradient,
        )  # fmt: skip
        set_weight_gradient(turned, n_used, gradient, weight_gradient)
        squared = squared_norm(weight_gradient[:n_used]) + dot(bias_gradient, bias_gradient)
        squared += squared_norm(decoder_gradient[:n_slots])
        squared += dot(decoder_bias_gradient[:n_slots], decoder_bias_gradient[:n_slots])
        factor = clip_factor(squared, max_norm)
        descend_columns(columns[:n_used], weights, weight_momenta, weight_gradient, factor, rates)
        descend_columns(touched, decoder, decoder_momenta, decoder_gradient, factor, rates)
        descend_columns(touched, c, c_momenta, decoder_bias_gradient.reshape(-1, 1), factor, rates)
        descend(bias, bias_momenta, bias_gradient, factor, learning_rate, momentum)
        slot_of[touched] = -1
    return distance_total / keys.shape[0], reconstruction_total / keys.shape[0]

"""The training loop of one member on sparse rows, fused and compiled.

A batch of sparse rows touches few rows of W, and touches them one after the other (`turn_by_column`): whatever is to be
done with a row of W is done while it is at hand. Momentum of the untouched ones is caught up when they are next used
(`catch_up`): after `d` idle steps plain momentum would have moved ``W -= lr * V * (mu + ... + mu^d)`` and left
``V * mu^d``. That is the same algorithm, not an approximation.

With the reconstruction loss, a cell with a value is decoded by itself, and those without one by the columns that were
sampled for all rows of the batch together (`reconstruction.py`). A step touches the decoder's rows of these columns
only, and their momentum is caught up as W's is.
"""

from __future__ import annotations

import numpy as np

from rdplearn._training.engines.dense_kernels import (
    GOLDEN,
    activate,
    add_bias,
    batch_room,
    clip_factor,
    descend,
    dot,
    draw_shift,
    draw_with_targets,
    gather,
    gather_numbers,
    jit,
    pair_losses,
    pair_scratch,
    phi_room,
    scramble,
    set_pull,
    squared_norm,
)


@jit
def catch_up(weights, momenta, idle, learning_rate, momentum, decay):
    """Do what `idle` steps without a gradient would have done to one row of W and its momentum, in place.

    decay : powers of the momentum, `decay[d] = momentum ** d`, down to where they vanish
    """
    remaining = decay[idle] if idle < decay.size else np.float32(0.0)
    travelled = learning_rate * momentum * (np.float32(1.0) - remaining) / (np.float32(1.0) - momentum)
    for k in range(weights.size):
        weights[k] -= travelled * momenta[k]
        momenta[k] *= remaining


@jit
def catch_up_all(weights, momenta, last_used, step, learning_rate, momentum, decay):
    """Bring every row of W up to the end of step `step`."""
    for c in range(weights.shape[0]):
        if last_used[c] >= 0 and last_used[c] < step:
            catch_up(weights[c], momenta[c], step - last_used[c], learning_rate, momentum, decay)
            last_used[c] = step


@jit
def catch_up_used(columns, weights, momenta, last_used, step, rates, decay):
    """Bring the rows of W that this step is going to move up to the step before."""
    learning_rate, momentum, _ = rates
    for column in columns:
        idle = step - 1 - last_used[column]
        if last_used[column] >= 0 and idle > 0:
            catch_up(weights[column], momenta[column], idle, learning_rate, momentum, decay)


@jit
def column_room(n_columns, batch_size, longest_row):
    """Room for `turn_by_column`: the column of each slot, where its values start, whose they are, the values."""
    n_values = max(1, batch_size * longest_row)
    owners, values = np.empty(n_values, np.int64), np.empty(n_values, np.float32)
    return np.empty(n_columns, np.int64), np.empty(n_columns + 1, np.int64), owners, values


@jit
def turn_by_column(data, indices, indptr, batch, slot_of, turned):
    """Give each column that occurs in the batch a slot and list its values; returns how many columns there are.

    slot_of : (n_columns,), -1 everywhere on entry; turned : see `column_room`
    """
    columns, starts, owners, values = turned
    n_used, n_values = 0, 0
    for i in range(batch.size):
        for p in range(indptr[batch[i]], indptr[batch[i] + 1]):
            column = indices[p]
            n_values += 1
            if slot_of[column] < 0:
                slot_of[column] = n_used
                columns[n_used] = column
                starts[n_used] = 0
                n_used += 1
            starts[slot_of[column]] += 1
    for slot in range(1, n_used):
        starts[slot] += starts[slot - 1]
    starts[n_used] = n_values
    for i in range(batch.size - 1, -1, -1):  # backwards, from each slot's end to its start
        for p in range(indptr[batch[i]], indptr[batch[i] + 1]):
            slot = slot_of[indices[p]]
            starts[slot] -= 1
            owners[starts[slot]] = i
            values[starts[slot]] = data[p]
    return n_used


@jit
def project_columns(turned, n_used, weights, phi):
    """Phi = rows @ W, column by column."""
    columns, starts, owners, values = turned
    phi[:] = np.float32(0.0)
    for slot in range(n_used):
        column_weights = weights[columns[slot]]
        for p in range(starts[slot], starts[slot + 1]):
            value, row = values[p], phi[owners[p]]
            for k in range(row.size):
                row[k] += value * column_weights[k]


@jit
def set_weight_gradient(turned, n_used, gradient, weight_gradient):
    """Gradient of W's used rows: rows' @ gradient, one line for each slot."""
    _, starts, owners, values = turned
    for slot in range(n_used):
        line = weight_gradient[slot]
        line[:] = np.float32(0.0)
        for p in range(starts[slot], starts[slot + 1]):
            value, row = values[p], gradient[owners[p]]
            for k in range(line.size):
                line[k] += value * row[k]


@jit
def descend_columns(columns, weights, momenta, gradient, factor, rates):
    """One step of gradient descent with momentum on the rows of W that this step touched."""
    learning_rate, momentum, _ = rates
    for slot in range(columns.size):
        column = columns[slot]
        descend(weights[column], momenta[column], gradient[slot], factor, learning_rate, momentum)


@jit
def sample_columns(key, limits):
    """The columns sampled in one step, as `reconstruction.sample_columns`."""
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
def decode_sparse(key, step, turned, n_used, slot_of, phi, gradient, rates, decay, decoding):
    """The reconstruction loss of a batch, with its gradients; returns it, and how many columns were touched.

    decoding : see `train_sparse`; overwrites the gradient by φ, and the room for those of the touched columns
    """
    decoder, decoder_bias, momenta, bias_momenta, decoder_gradient, bias_gradient, weight, n_columns = decoding[:8]
    last_used, limits, stands_for = decoding[8:]
    columns = turned[0]
    sampled = sample_columns(key, limits)
    n_slots = add_slots(sampled, n_used, slot_of, columns)
    touched = columns[:n_slots]
    catch_up_used(touched, decoder_bias.reshape(-1, 1), bias_momenta.reshape(-1, 1), last_used, step, rates, decay)
    catch_up_used(touched, decoder, momenta, last_used, step, rates, decay)
    last_used[touched] = step
    decoder_gradient[:n_used] = np.float32(0.0)
    bias_gradient[:n_used] = np.float32(0.0)
    loss = decode_zeros(
        turned, n_used, slot_of, sampled, stands_for, phi, decoder, decoder_bias, weight, n_columns, gradient,
        decoder_gradient, bias_gradient,
    )  # fmt: skip
    loss += decode_filled(
        turned, n_used, phi, decoder, decoder_bias, weight, n_columns, gradient, decoder_gradient, bias_gradient
    )
    return loss, n_slots


@jit
def descend_touched(touched, decoding, factor, rates):
    """One step of gradient descent with momentum on the decoder's parameters of the touched columns."""
    decoder, decoder_bias, momenta, bias_momenta, gradient, bias_gradient = decoding[:6]
    descend_columns(touched, decoder, momenta, gradient, factor, rates)
    # rows of one number, as W's are
    descend_columns(
        touched, decoder_bias.reshape(-1, 1), bias_momenta.reshape(-1, 1), bias_gradient.reshape(-1, 1), factor, rates
    )


@jit
def train_sparse(
    data, indices, indptr, longest_row, last_used, weight_gradient, first_step, decay,
    targets, target_scale, kept, keys, batch_size, parameters, momenta, loss_weights, through_norm, drop_limit, rates,
    decoding,
):  # fmt: skip
    """Run `len(keys)` steps on CSR rows, in place; returns the mean distance, novelty and reconstruction losses.

    data, indices, indptr : the rows in CSR form; longest_row : how many values it holds
    last_used : (n_columns,), the last step that moved each row of W, -1 before the first
    weight_gradient : room for as many rows of W as a batch can touch; new room would cost more than its use
    decay : see `catch_up`; the other arguments are those of `train_dense`
    decoding : has three more entries: the last step that moved each row of the decoder, the word below which a column
        is sampled, and 1 / its chance of that
    """
    weights, bias = parameters
    weight_momenta, bias_momenta = momenta
    learning_rate, momentum, max_norm = rates
    n_columns, n_units = weights.shape
    drawn = batch, batch_targets, batch_scale = batch_room(batch_size, targets.shape[1])
    phi, slopes, gradient = phi_room(batch_size, n_units)
    scratch = pair_scratch(batch_size)
    slot_of = np.full(n_columns, -1, np.int64)
    turned = column_room(n_columns, batch_size, longest_row)
    columns = turned[0]
    bias_gradient = np.empty_like(bias)
    distance_total, novelty_total, reconstruction_total = 0.0, 0.0, 0.0
    for offset in range(keys.shape[0]):
        step = first_step + offset
        draw_with_targets(keys[offset, 0], kept, targets, target_scale, drawn)
        n_used = turn_by_column(data, indices, indptr, batch, slot_of, turned)
        catch_up_used(columns[:n_used], weights, weight_momenta, last_used, step, rates, decay)
        last_used[columns[:n_used]] = step
        project_columns(turned, n_used, weights, phi)
        activate(phi, slopes, bias, keys[offset, 2], drop_limit)
        n_slots = n_used
        if decoding is None:
            gradient[:] = np.float32(0.0)
        else:
            reconstruction, n_slots = decode_sparse(
                keys[offset, 3], step, turned, n_used, slot_of, phi, gradient, rates, decay, decoding
            )
            reconstruction_total += reconstruction
        shift = draw_shift(keys[offset, 1], batch_size)
        distance, novelty = pair_losses(
            gradient, phi, slopes, batch_targets, batch_scale, shift, loss_weights, through_norm, scratch,
            bias_gradient,
        )  # fmt: skip
        set_weight_gradient(turned, n_used, gradient, weight_gradient)
        squared = squared_norm(weight_gradient[:n_used]) + dot(bias_gradient, bias_gradient)
        if decoding is not None:
            squared += squared_norm(decoding[4][:n_slots])
            squared += dot(decoding[5][:n_slots], decoding[5][:n_slots])
        factor = clip_factor(squared, max_norm)
        descend_columns(columns[:n_used], weights, weight_momenta, weight_gradient, factor, rates)
        if decoding is not None:
            descend_touched(columns[:n_slots], decoding, factor, rates)
        slot_of[columns[:n_slots]] = -1
        descend(bias, bias_momenta, bias_gradient, factor, learning_rate, momentum)
        distance_total += distance
        novelty_total += novelty
    n_steps = keys.shape[0]
    return distance_total / n_steps, novelty_total / n_steps, reconstruction_total / n_steps

"""Score a Parquet file with onnxruntime alone: no rdplearn, no training library.

    rdplearn export model.safetensors -o model.onnx
    python examples/score_parquet_with_onnx.py model.onnx rows.parquet scores.parquet

The file is read and written in batches, so that it may be larger than memory. The columns that the model was fitted on
are taken by name; their names stand in the model's metadata.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import onnxruntime
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = pa.schema([("anomaly_score", pa.float64()), ("anomalous", pa.bool_())])


def score_parquet(model_path: str, table_path: str, scores_path: str, batch_size: int = 4096) -> int:
    """Write the anomaly score of every row, and whether it is reported; returns the number of rows."""
    session = onnxruntime.InferenceSession(model_path)
    table = pq.ParquetFile(table_path)
    names = json.loads(session.get_modelmeta().custom_metadata_map["columns"]) or table.schema_arrow.names
    n_rows = 0
    with pq.ParquetWriter(scores_path, SCHEMA) as writer:
        for batch in table.iter_batches(batch_size, columns=names):
            rows = np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in names])
            outputs = {"rows": rows.astype(np.float64)}
            scores, label = session.run(["score_samples", "predict"], outputs)
            writer.write_batch(pa.record_batch([-scores, label == -1], schema=SCHEMA))
            n_rows += len(rows)
    return n_rows


if __name__ == "__main__":
    print(f"{score_parquet(*sys.argv[1:4]):,} rows scored: {sys.argv[3]}")

"""Tables larger than one machine, on a Dask cluster: the same functions over partitions.

Nothing here needs to be called: estimators, `TableEncoder` and `TableModel` take Dask collections and Parquet datasets,
and hand them over. `docs/distributed.md` tells how.
"""

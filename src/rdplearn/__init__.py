"""Anomalies, clusters and features in tables, without labels, by predicting random distances."""

__version__ = "0.1.0"

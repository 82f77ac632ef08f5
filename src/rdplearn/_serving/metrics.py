"""What is counted, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rdplearn._serving.models import ServedModel
from rdplearn._serving.scoring import Scored

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "rdplearn_requests", "Requests that were answered.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "rdplearn_request_seconds",
            "From the first byte of a request to the last one of its answer.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._rows = Counter("rdplearn_rows", "Rows that got a score.", ["model"], registry=self._registry)
        self._alarms = Counter(
            "rdplearn_alarms", "Rows that were reported as anomalous.", ["model"], registry=self._registry
        )
        self._unseen = Counter(
            "rdplearn_unseen_categories",
            "Rows with a value that the fit did not see.",
            ["model", "column"],
            registry=self._registry,
        )
        self._reloads = Counter(
            "rdplearn_model_reloads", "Files that were loaded anew.", ["model"], registry=self._registry
        )
        self._broken = Gauge(
            "rdplearn_model_file_broken", "1 if the file cannot be read and an earlier version is used.", ["model"],
            registry=self._registry,
        )  # fmt: skip

    def expect(self, served: ServedModel) -> None:
        """Begin to count for a model: at zero, so that rates are right from the first row on."""
        for counter in (self._rows, self._alarms, self._reloads, self._broken):
            counter.labels(served.name)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def count_rows(self, model: str, scored: Scored) -> None:
        self._rows.labels(model).inc(len(scored.scores))
        self._alarms.labels(model).inc(int(scored.reported.sum()))
        for column, n_rows in scored.unseen.items():
            self._unseen.labels(model, column).inc(n_rows)

    def count_reload(self, served: ServedModel, is_new: bool) -> None:
        """Note what came of a look at a model's file."""
        if is_new:
            self._reloads.labels(served.name).inc()
        self._broken.labels(served.name).set(served.fault is not None)

    def page(self) -> bytes:
        """All counters, as Prometheus reads them."""
        return generate_latest(self._registry)

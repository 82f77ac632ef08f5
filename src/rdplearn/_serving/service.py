"""Models, limits and counters as one: what the routes call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pyarrow as pa

from rdplearn._serving.limits import Limits
from rdplearn._serving.metrics import Metrics
from rdplearn._serving.models import LoadedModel, ServedModel
from rdplearn._serving.problems import ProblemError
from rdplearn._serving.scoring import Explained, Rows, Scored, check_columns, explain, score, score_all
from rdplearn._serving.together import Together

LOG = logging.getLogger("rdplearn.serve")
SECONDS_BETWEEN_LOOKS = 1.0
MOST_CELLS = 1024  # of a request that is done between others, in a millisecond or two


class Service:
    """Models by name, and threads that score and explain.

    Parameters
    ----------
    models : with names that differ
    limits : of one request
    """

    def __init__(self, models: Sequence[ServedModel], limits: Limits) -> None:
        self.models = {served.name: served for served in models}
        self.limits = limits
        self.metrics = Metrics()
        for served in models:
            self.metrics.expect(served)

    def start(self) -> None:
        """Get ready; what takes long has a thread of its own, and explanations another."""
        self._small: Together[Rows, Scored] = Together(score_all)
        self._large = ThreadPoolExecutor(1, "scores")
        self._explanations = ThreadPoolExecutor(1, "explanations")

    def stop(self) -> None:
        """End the threads, once they have done what they are at."""
        self._large.shutdown(cancel_futures=True)
        self._explanations.shutdown(cancel_futures=True)

    def model(self, name: str | None) -> ServedModel:
        """The model of that name; without a name the only one."""
        if name is None and len(self.models) == 1:
            return next(iter(self.models.values()))
        listed = ", ".join(self.models)
        if name is None:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"Say which model with ?model=NAME. There are {listed}.")
        if name not in self.models:
            raise ProblemError(HTTPStatus.NOT_FOUND, f"There is no model {name!r:.60}. There are: {listed}.")
        return self.models[name]

    async def score(self, served: ServedModel, batch: pa.RecordBatch) -> tuple[LoadedModel, Scored]:
        """Score rows; the model that did comes along, for the next one may be another."""
        loaded = self._admit(served, batch, self.limits.n_rows)
        rows = Rows(loaded, batch)
        if batch.num_rows * batch.num_columns <= MOST_CELLS:
            scored = await self._small.do(rows)
        else:
            scored = await asyncio.get_running_loop().run_in_executor(self._large, score, rows)
        self.metrics.count_rows(served.name, scored)
        return loaded, scored

    async def explain(self, served: ServedModel, batch: pa.RecordBatch) -> tuple[LoadedModel, Explained]:
        """Explain rows."""
        loaded = self._admit(served, batch, min(self.limits.n_explained, self.limits.n_rows))
        work = asyncio.get_running_loop().run_in_executor(self._explanations, explain, Rows(loaded, batch))
        explained = await work
        self.metrics.count_rows(served.name, explained.scored)
        return loaded, explained

    async def watch_files(self) -> None:
        """Load models again whose files change, for ever."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            for served in self.models.values():
                await self._look(served)

    async def _look(self, served: ServedModel) -> None:
        fault_before = served.fault
        is_new = await asyncio.to_thread(served.reload)
        self.metrics.count_reload(served, is_new)
        if is_new:
            LOG.info("Model '%s' was replaced: version %s serves now.", served.name, served.current.version)
        elif served.fault is not None and served.fault != fault_before:
            LOG.warning("Model '%s' cannot be replaced. %s", served.name, served.fault)

    def _admit(self, served: ServedModel, batch: pa.RecordBatch, most_rows: int) -> LoadedModel:
        self.limits.check_rows(batch.num_rows, most_rows)
        loaded = served.current
        check_columns(loaded, tuple(batch.schema.names))
        return loaded

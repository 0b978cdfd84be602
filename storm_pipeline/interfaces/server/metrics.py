"""Metrics of a server for Prometheus."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.run.events import CallFinished, Event, RunFinished, RunStopped

_SECONDS = (30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)


class Metrics(Collector):
    """Counters of a server's requests and of its runs' calls since its start; runs are counted on collection."""

    def __init__(self, service: RunService) -> None:
        self._service = service
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        self._requests = counter("storm_requests", "Requests by route and status.", ["route", "status"])
        self._calls = counter("storm_model_calls", "Calls of language models.")
        self._tokens = counter("storm_model_tokens", "Tokens of these calls.", ["direction"])
        self._dollars = counter("storm_model_dollars", "US dollars that these calls cost, where known.")
        self._seconds = Histogram(
            "storm_run_seconds", "Seconds of runs' sessions.", buckets=_SECONDS, registry=self._registry
        )
        self._registry.register(self)
        service.queue.observers.append(self._observe)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    def request(self, scope: Any, status: int) -> None:
        """Count a request; without a route, or refused before routing, it is counted as ``none``."""
        self._requests.labels(getattr(scope.get("route"), "path", "none"), status).inc()

    def collect(self) -> Iterable[Metric]:
        """Return the number of runs in each state, and of waiting ones."""
        runs = GaugeMetricFamily("storm_runs", "Runs in the folder by state.", labels=["state"])
        for state, number in sorted(self._service.folders.states().items()):
            runs.add_metric([state], number)
        waiting = len(self._service.queue.waiting())
        return [runs, GaugeMetricFamily("storm_queue_length", "Runs that wait for their turn.", waiting)]

    def describe(self) -> Iterable[Metric]:
        """Return an empty list, so that registering does not read folders."""
        return ()

    def _observe(self, event: Event) -> None:
        if isinstance(event, CallFinished):
            self._calls.inc()
            self._tokens.labels("in").inc(event.tokens_in)
            self._tokens.labels("out").inc(event.tokens_out)
            self._dollars.inc(event.cost or 0.0)
        elif isinstance(event, RunFinished | RunStopped):
            self._seconds.observe(event.seconds)

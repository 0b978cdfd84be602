"""Figures of a server for Prometheus."""

from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from storm_pipeline.run.events import CallFinished, Event, RunFinished, RunStopped
from storm_pipeline.server.run_service import RunService

_SECONDS = (30, 60, 120, 300, 600, 1200, 1800, 3600, 7200)


class Metrics:
    """Counts the requests of a server, and the calls of its runs since it started."""

    def __init__(self, service: RunService) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self._requests = Counter(
            "storm_requests", "Requests by route and status.", ["route", "status"], registry=registry
        )
        self._calls = Counter("storm_model_calls", "Calls of language models.", registry=registry)
        self._tokens = Counter("storm_model_tokens", "Tokens of these calls.", ["direction"], registry=registry)
        self._dollars = Counter(
            "storm_model_dollars", "US dollars that these calls cost, where known.", registry=registry
        )
        self._seconds = Histogram(
            "storm_run_seconds", "Seconds of runs' sessions.", buckets=_SECONDS, registry=registry
        )
        self._registry.register(_Runs(service))
        service.queue.observers.append(self._observe)

    def text(self) -> bytes:
        """Return all figures in Prometheus's text format."""
        return generate_latest(self._registry)

    def request(self, scope: Any, status: int) -> None:
        """Count a request; what has no route, or was refused before it was found, is counted as ``none``."""
        self._requests.labels(getattr(scope.get("route"), "path", "none"), status).inc()

    def _observe(self, event: Event) -> None:
        if isinstance(event, CallFinished):
            self._calls.inc()
            self._tokens.labels("in").inc(event.tokens_in)
            self._tokens.labels("out").inc(event.tokens_out)
            self._dollars.inc(event.cost or 0.0)
        elif isinstance(event, RunFinished | RunStopped):
            self._seconds.observe(event.seconds)


class _Runs(Collector):
    """The runs in the folder, which are looked at when they are asked for."""

    def __init__(self, service: RunService) -> None:
        self._service = service

    def collect(self) -> Iterable[Metric]:
        """Return the number of runs in each state, and of those that wait here."""
        runs = GaugeMetricFamily("storm_runs", "Runs in the folder by state.", labels=["state"])
        for state, number in sorted(self._service.folders.states().items()):
            runs.add_metric([state], number)
        yield runs
        yield GaugeMetricFamily("storm_queue_length", "Runs that wait for their turn.", len(self._service.queue))

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that registering reads no folder."""
        return ()

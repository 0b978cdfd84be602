"""The Wikimedia services used by the builders: addresses, rate limits, timeouts, and a cache of responses."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import BUILD
from storm_pipeline import DatasetError, SearchError
from storm_pipeline.api import SqliteCache
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience

KEY_VARIABLE = "WIKIMEDIA_TOKEN"
_LARGEST = 40_000_000
_PATIENCE = Patience(connect=10, read=60, total=600, attempts=6, first_pause=2, longest_pause=120)


@dataclass(frozen=True)
class Wikimedia:
    """One Wikipedia and the services around it."""

    language: str = "en"  # code of the Wikipedia
    # a personal token of api.wikimedia.org, for Lift Wing where it refuses anonymous requests; may be empty
    token: str = field(default="", repr=False)
    metrics: str = "https://wikimedia.org/api/rest_v1/metrics"  # URL of the Analytics API
    lift_wing: str = "https://api.wikimedia.org/service/lw/inference/v1/models"  # URL of Lift Wing's models
    wikidata: str = "https://query.wikidata.org/sparql"  # URL of the Wikidata Query Service
    api: str = ""  # URL of the Wikipedia's ``api.php``; default: by language
    rate: float = 2.0  # maximum requests per second to each service, sequential, > 0
    patience: Patience = _PATIENCE  # timeouts and retries of a request; long, because builds are not interactive

    @property
    def database(self) -> str:
        """The Wikipedia's database name, used in model names: ``enwiki``."""
        return f"{self.language.replace('-', '_')}wiki"

    @property
    def project(self) -> str:
        """The Wikipedia's name in the Analytics API."""
        return f"{self.language}.wikipedia.org"

    def client(self, service: str, address: str, remedies: dict[int, str], *, token: str = "") -> ApiClient:
        """A client of one service; sends one request at a time and respects Retry-After."""
        return ApiClient(
            service,
            address,
            rate=Rate(self.rate, concurrent=1),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            remedies=remedies,
            patience=self.patience,
            max_bytes=_LARGEST,
        )


@contextmanager
def service_errors() -> Iterator[None]:
    """Convert a service's failure into a DatasetError that says how to continue.

    Raises DatasetError: a service failed permanently.
    """
    try:
        yield
    except SearchError as error:
        raise DatasetError(f"{error}; responses so far are kept: run the same build again to continue") from error


class AnswerCache:
    """Responses by request, on disk, so that a restarted build repeats none. Failures are not cached."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(Path(folder) / BUILD / "answers.sqlite")

    def get(self, question: Sequence[object], ask: Callable[[], Any]) -> Any:
        """The cached response, or the result of ``ask``, which is then cached.

        Args:
            question: JSON values that identify the request: service, address, parameters.
            ask: makes the request; returns a JSON value other than None.
        """
        key = json.dumps(question)
        known = self._cache.get(key)
        if known is None:
            known = ask()
            self._cache.put(key, known)
        return known

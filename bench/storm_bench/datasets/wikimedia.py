"""The Wikimedia services used by the builders: addresses, rate limits and timeouts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from storm_pipeline import DatasetError, SearchError, __version__
from storm_pipeline.api import ApiClient, Patience, Rate

MADE_BY = f"storm-pipeline/{__version__}"
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

    Raises:
        DatasetError: a service failed permanently.
    """
    try:
        yield
    except SearchError as error:
        raise DatasetError(f"{error}; responses so far are kept: run the same build again to continue") from error

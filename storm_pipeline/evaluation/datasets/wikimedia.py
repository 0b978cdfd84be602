"""The services of Wikimedia that data sets are built from: where they are, and how politely they are asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from storm_pipeline.errors import DatasetError, SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience

KEY_VARIABLE = "WIKIMEDIA_TOKEN"
_LARGEST = 40_000_000
_PATIENCE = Patience(connect=10, read=60, total=600, attempts=6, first_pause=2, longest_pause=120)


@dataclass(frozen=True)
class Wikimedia:
    """One Wikipedia and the services around it.

    Attributes:
        language: code of the Wikipedia.
        token: a personal token of api.wikimedia.org, for Lift Wing where it refuses nameless requests; may be empty.
        metrics: address of the Analytics API.
        lift_wing: address of the models of Lift Wing.
        wikidata: address of the query service of Wikidata.
        api: address of the Wikipedia's ``api.php``; by default that of the language.
        rate: requests a second that each service gets, one at a time, > 0.
        patience: time limits of a request; long, for nobody waits before the screen.
    """

    language: str = "en"
    token: str = field(default="", repr=False)
    metrics: str = "https://wikimedia.org/api/rest_v1/metrics"
    lift_wing: str = "https://api.wikimedia.org/service/lw/inference/v1/models"
    wikidata: str = "https://query.wikidata.org/sparql"
    api: str = ""
    rate: float = 2.0
    patience: Patience = _PATIENCE

    @property
    def database(self) -> str:
        """Name of the Wikipedia's database, by which models are named: ``enwiki``."""
        return f"{self.language.replace('-', '_')}wiki"

    @property
    def project(self) -> str:
        """Name of the Wikipedia in the Analytics API."""
        return f"{self.language}.wikipedia.org"

    def client(self, service: str, address: str, remedies: dict[int, str], *, token: str = "") -> ApiClient:
        """A client of one service, which asks one thing at a time and heeds Retry-After."""
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
def building() -> Iterator[None]:
    """Turn a service's failure into one of the build, which says that nothing is lost.

    Raises:
        DatasetError: a service failed for good.
    """
    try:
        yield
    except SearchError as error:
        raise DatasetError(f"{error}; what was answered is kept: run the same build again and it goes on") from error

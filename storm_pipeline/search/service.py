"""What the engines of papers share: they ask a service that needs no key, and may have one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

from storm_pipeline.configuration.variables import variable
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.search.paging import one_per_page
from storm_pipeline.types import Snippet


class ServiceSearch:
    """A search for papers, one snippet each; a subclass says what the service is and how to :meth:`find` with it.

    Args:
        key: by default the optional environment variable of ``info``, if it has one and that is set.
        base_url: address of a gateway or a local server instead of the service's.
        options: only those that ``info`` supports are used.
        rate: requests a second; by default what the service allows.

    Raises:
        SettingsError: the key is malformed.
    """

    info: ClassVar[EngineInfo]
    name: ClassVar[str]
    address: ClassVar[str]
    rate: ClassVar[Rate]
    rate_with_key: ClassVar[Rate | None] = None  # None for the same as without

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str | None = None,
        options: SearchOptions | None = None,
        patience: Patience | None = None,
        rate: float | None = None,
    ) -> None:
        self._key = (key or "".join(map(variable, self.info.optional_variables))).strip()
        self._options = options or SearchOptions()
        allowed = (self.rate_with_key if self._key else None) or self.rate
        self._client = ApiClient(
            self.name,
            (base_url or self.address).rstrip("/"),
            rate=Rate(rate or allowed.per_second, concurrent=allowed.concurrent),
            headers=self.headers(),
            remedies=self.remedies(),
            patience=patience,
        )

    @classmethod
    def open_engine(cls, argument: str, config: EngineConfig) -> Self:
        """The engine of a specification, which is its name alone."""
        reject_argument(cls.name, argument)
        return cls(rate=config.rate, options=config.options)

    def headers(self) -> Mapping[str, str]:
        """Headers of each request."""
        return {}

    def remedies(self) -> Mapping[int, str]:
        """HTTP status → what to do about it."""
        return {}

    def find(self, query: str, k: int) -> Iterable[Snippet]:
        """About ``k`` papers, best first."""
        raise NotImplementedError

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` papers, best first.

        Raises SearchError: the request failed, or its response has an unknown format.
        """
        return one_per_page(self.find(query, k), k) if k >= 1 else ()

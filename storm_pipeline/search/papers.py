"""What the engines of papers share: services that need no key, one URL per paper whichever finds it, partial dates."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import ClassVar, Self
from urllib.parse import quote

from storm_pipeline.configuration.variables import variable
from storm_pipeline.documents.markup import fragment_text
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.search.paging import one_per_page
from storm_pipeline.types import Snippet

MAX_AUTHORS = 30
MAX_RESULTS = 100
"""Papers that the services give at once, at most."""


class PaperSearch:
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
        """Up to ``k`` papers, best first; see the protocol."""
        return one_per_page(self.find(query, k), k) if k >= 1 else ()


def doi_name(doi: object) -> str | None:
    """A DOI by itself, lower-cased since DOIs are case-insensitive; None if it is none."""
    name = plain_text(doi).lower()
    return name if name.startswith("10.") else None


def joined_names(names: Iterable[object]) -> str | None:
    """Names of authors as :attr:`storm_pipeline.types.Snippet.author` has them, the first 30; None if there are none.

    ``names``: each ``Given Family`` or ``Family, Given``; anything but a string is left out.
    """
    plain = (plain_text(name).replace(";", ",") for name in names)
    return "; ".join(list(filter(None, plain))[:MAX_AUTHORS]) or None


def full_name(family: str, given: str, whole: str) -> str:
    """An author's ``Family, Given`` as far as known, else the name of a group."""
    return f"{family}, {given}" if family and given else family or whole


def first_text(value: object) -> str:
    """The plain text of the first of several JATS or HTML fragments, as Crossref has titles; empty if there is none."""
    return fragment_text(value[0]) if isinstance(value, list) and value else ""


def doi_address(doi: object) -> str:
    """URL of a paper by its DOI, lower-cased since DOIs are case-insensitive; empty if there is no DOI."""
    name = doi_name(doi)
    return "https://doi.org/" + quote(name, safe="/:;().,_-~!*'") if name else ""


def arxiv_address(number: object) -> str:
    """URL of a preprint's abstract page by its arXiv identifier without version; empty if there is none."""
    name = plain_text(number)
    return "https://arxiv.org/abs/" + quote(name, safe="/.-") if name else ""


def partial_date(parts: Sequence[object]) -> str | None:
    """ISO date from as many of year, month and day as are known: ``2019-05-02``, ``2019-05`` or ``2019``.

    ``parts``: numbers, or strings of digits; the date stops before the first that is missing or invalid.
    """
    known = list(takewhile(str.isdecimal, (str(part).strip() for part in parts[:3])))
    while known:
        try:
            year, month, day = (int(part[:9]) for part in [*known, "1", "1"][:3])
            return date(year, month, day).isoformat()[: (4, 7, 10)[len(known) - 1]]
        except (ValueError, OverflowError):
            known.pop()
    return None

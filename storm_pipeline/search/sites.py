"""Domains in the query itself, for engines that know ``site:`` but have no parameter for domains."""

from storm_pipeline.documents.plain import one_line
from storm_pipeline.search.opening import SearchOptions


def with_sites(query: str, options: SearchOptions, *, limit: int, words: int | None = None) -> str:
    """A query as it is sent, in one line, followed by operators for the wanted and unwanted domains.

    Where the operators would take more than half of the room they are left out, for the query matters more and
    :class:`storm_pipeline.search.domains.DomainSearch` looks after domains anyway.

    Args:
        query: the query.
        options: ``domains`` and ``without_domains`` are looked at.
        limit: characters at most, >= 1.
        words: words at most, >= 1; None for any number.
    """
    operators = " ".join(_operators(options))
    taken = operators.count(" ") + 1
    if not operators or 2 * len(operators) > limit or (words is not None and 2 * taken > words):
        return one_line(query, limit, words)
    line = one_line(query, limit - len(operators) - 1, words and words - taken)
    return f"{line} {operators}" if line else ""


def _operators(options: SearchOptions) -> list[str]:
    wanted = " OR ".join(f"site:{domain}" for domain in options.domains)
    unwanted = [f"-site:{domain}" for domain in options.without_domains]
    return [f"({wanted})" if len(options.domains) > 1 else wanted, *unwanted] if wanted else unwanted

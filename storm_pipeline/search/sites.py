"""Domain operators in the query, for engines that support ``site:`` but have no parameter for domains."""

from storm_pipeline.documents.plain import one_line
from storm_pipeline.search.engine_info import SearchOptions


def with_sites(query: str, options: SearchOptions, *, limit: int, words: int | None = None) -> str:
    """The query on one line, followed by operators for included and excluded domains.

    Operators that would take more than half of the limit are left out: the query matters more, and
    :func:`storm_pipeline.search.domains.within_domains` filters by domain anyway.

    Args:
        query: the query.
        options: only ``domains`` and ``without_domains`` are used.
        limit: maximum number of characters, >= 1.
        words: maximum number of words, >= 1; None for no limit.
    """
    operators = " ".join(_operators(options))
    operator_words = operators.count(" ") + 1
    if not operators or 2 * len(operators) > limit or (words is not None and 2 * operator_words > words):
        return one_line(query, limit, words)
    line = one_line(query, limit - len(operators) - 1, words and words - operator_words)
    return f"{line} {operators}" if line else ""


def _operators(options: SearchOptions) -> list[str]:
    wanted = " OR ".join(f"site:{domain}" for domain in options.domains)
    unwanted = [f"-site:{domain}" for domain in options.without_domains]
    return [f"({wanted})" if len(options.domains) > 1 else wanted, *unwanted] if wanted else unwanted

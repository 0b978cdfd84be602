"""The statements of a scored article with the pages that it cites for them."""

from collections.abc import Iterable

from storm_bench.types import Case, CitedStatement
from storm_pipeline.api import source_id, words


def own_statements(case: Case) -> tuple[CitedStatement, ...]:
    """The statements published with a system's article; of any other article the sentences that contain a word.

    In text order, each with one address per page that it cites.
    """
    if case.published:
        return tuple(CitedStatement(one.text, _one_per_page(one.urls)) for one in case.published.statements)
    urls = {source.id: source.url for source in case.article.sources}
    return tuple(
        CitedStatement(sentence.text, _one_per_page(urls[citation.source_id] for citation in sentence.citations))
        for sentence in case.article.sentences()
        if words(sentence.text)
    )


def _one_per_page(urls: Iterable[str]) -> tuple[str, ...]:
    return tuple({source_id(url): url for url in urls}.values())

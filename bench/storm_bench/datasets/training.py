"""Data sets as what ``storm compile --train NAME:FOLDER`` learns from: human articles, and what they rest on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from storm_bench.articles.data_set import human_article
from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.datasets.dataset import read_isolated
from storm_bench.datasets.expertqa import read_expertqa
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.support import json_lines
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import MANIFEST, read_wikigenbench
from storm_bench.folders import without_links
from storm_bench.types import Topic
from storm_pipeline import Article, DatasetError, Snippet
from storm_pipeline.api import parse_cited
from storm_pipeline.output.articles.pages import with_citations
from storm_pipeline.types import Paragraph, Section

_NO_SENTENCE = -1  # index of what is a source of the article, and cited by none of its sentences
_WICE = "wice_claim_dev.jsonl.gz"
Claims = dict[str, list[tuple[str, tuple[Snippet, ...]]]]
"""Heading → claims with the passages that people found to support them; none for a claim that they do not."""


def freshwiki(folder: Path) -> list[Article]:
    """FreshWiki: heading trees and text, without documents."""
    return list(map(human_article, read_freshwiki(folder).topics))


def wikigenbench(folder: Path) -> list[Article]:
    """Return WikiGenBench's core topics, with the chunks of their documents, without copies of the article."""
    data = read_wikigenbench(folder, core_only=(folder / MANIFEST).is_file())
    return list(map(_with_documents, data.topics))


def wiki_live(folder: Path) -> list[Article]:
    """Return Wiki Live Challenge, with the chunks of the pages that its systems cited."""
    return list(map(_with_documents, read_wiki_live(folder).topics))


def expertqa(folder: Path) -> list[Article]:
    """ExpertQA: each question an article whose sentences cite the passages that experts found to support them."""
    questions: dict[str, Claims] = {}
    for one in read_expertqa(folder):
        passages = one.passages if one.supported else ()
        questions.setdefault(one.question, {}).setdefault(one.question, []).append((one.claim, passages))
    return [_labelled(question, claims) for question, claims in questions.items()]


def wice(folder: Path) -> list[Article]:
    """Return WiCE's claims by Wikipedia article and section, citing the sentences that people found to support them.

    Raises DatasetError: the file is absent or damaged.
    """
    return read_isolated(without_links(folder) / _WICE, _wice)


def _wice(path: str) -> Iterator[Article]:
    articles: dict[str, Claims] = {}
    try:
        for row in json_lines(Path(path)):
            claims = articles.setdefault(row["meta"]["claim_title"], {})
            claims.setdefault(row["meta"]["claim_section"].strip(" ."), []).append((row["claim"], _evidence(row)))
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: put WiCE's claims there") from error
    yield from (_labelled(title, claims) for title, claims in articles.items())


def _evidence(row: Mapping[str, Any]) -> tuple[Snippet, ...]:
    """Return the first set of sentences that support a claim, as one passage."""
    if row["label"] != "supported":
        return ()
    text = " ".join(row["evidence"][i] for i in row["supporting_sentences"][0])
    return (Snippet(f"wice:{row['meta']['id']}", row["meta"]["claim_title"], text),)


def _with_documents(topic: Topic) -> Article:
    return with_citations(human_article(topic), {_NO_SENTENCE: topic_chunks(topic)})


def _labelled(title: str, claims: Claims) -> Article:
    sections, cited = [], []
    for heading, stated in claims.items():
        paragraphs = [(Paragraph(parse_cited(text, ()).sentences), passages) for text, passages in stated]
        sections.append(Section(heading or title, tuple(own for own, _ in paragraphs)))
        cited += [passages for own, passages in paragraphs for _ in own.sentences]
    return with_citations(Article(title, (), tuple(sections)), dict(enumerate(cited)))

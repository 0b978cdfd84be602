"""Writes an article from a frozen web: the pages of a Wiki Live topic, found and read as those of the web are.

    python -m storm_benchmarks.frozen_web TOPIC.json.gz --lm MODEL --out FOLDER [--api-base URL] [--set NAME=VALUE ...]

TOPIC is a Wiki Live file: ``title``, ``article`` and ``pages`` (url, title, text as Markdown). Left out are Wikipedia
and its mirrors, what repeats the article, and pages that are only a notice. The engine ranks pages by BM25 over title
and text, and returns of each its title and some 30 words around the best match. A page is fetched as HTML, so that it
is extracted, dated, cut, cleaned and filtered by the source policy like any other. Tables of contents cannot be had
offline, so there are none; nor are the layout and the page numbers of PDF files. ``--resume`` goes on with a run.

Printed are the run's folder, tokens, calls and the longest chain of calls each of which began after the one before it
had ended (where all that waits is answered at once, a chain of dependent calls), and what became of the pages found.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lxml.html
from markdown_it import MarkdownIt
from pydantic import BaseModel

from storm_bench.datasets.dataset import read_model
from storm_bench.datasets.leakage import without_copies
from storm_bench.datasets.usable_documents import usable
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_benchmarks.shared import options, stating_errors
from storm_pipeline import Article, Settings, Snippet, Storm
from storm_pipeline.api import LexicalIndex, readable_title
from storm_pipeline.errors import PageError
from storm_pipeline.evidence.run_search import RunSearch
from storm_pipeline.method import session
from storm_pipeline.output.articles.markdown_blocks import plain_markdown
from storm_pipeline.recipes import DEFAULT
from storm_pipeline.run.events import CallbackSink, EventSink, RunStarted
from storm_pipeline.sources.pages.extract import Page, extract
from storm_pipeline.sources.pages.fetch import FetchedPage
from storm_pipeline.sources.reliable.ground_truth import repeats_wikipedia
from storm_pipeline.text.files import read_records
from storm_pipeline.text.formatting import printable
from storm_pipeline.text.identity import canonical_url

_WORDS = 30  # of a snippet
_TITLE_WEIGHT = 3
_TIMEOUT = 3600.0  # seconds for a reply, which may be written by hand


@dataclass(frozen=True)
class WebPage:
    """A page as it lies in a topic's file: its text is Markdown."""

    url: str
    title: str
    text: str

    @cached_property
    def html(self) -> str:
        """The page as a server gives it."""
        body = MarkdownIt("js-default").render(self.text)
        return f"<html><head><title>{escape(self.title)}</title></head><body>{body}</body></html>"

    @cached_property
    def words(self) -> list[str]:
        """All words that a reader sees, menus included."""
        return str(lxml.html.fromstring(self.html).text_content()).split()

    @cached_property
    def _windows(self) -> tuple[list[str], LexicalIndex]:
        texts = [" ".join(self.words[at : at + _WORDS]) for at in range(0, max(1, len(self.words)), _WORDS // 2)]
        return texts, LexicalIndex(([(text, 1)] for text in texts), floor=0.0)

    def snippet(self, query: str) -> str:
        """Return some words around the best match; the beginning where none matches."""
        texts, index = self._windows
        return texts[next((match.position for match in index.search(query)), 0)]


class FrozenWeb:
    """A search engine over pages, and the pages as they are fetched. Thread-safe."""

    name = "frozen-web"

    def __init__(self, pages: Sequence[WebPage]) -> None:
        self.pages = {canonical_url(page.url): page for page in pages}
        self._ranked = tuple(self.pages.values())
        fields = ([(page.title, _TITLE_WEIGHT), (" ".join(page.words), 1)] for page in self._ranked)
        self._index = LexicalIndex(fields, floor=0.0)

    def search(self, query: str, k: int) -> list[Snippet]:
        """Return up to ``k`` pages, best first, a snippet each."""
        pages = [self._ranked[match.position] for match in self._index.search(query)][:k]
        return [Snippet(page.url, page.title, page.snippet(query), engine=self.name) for page in pages]

    def fetch(self, url: str) -> Page:
        """Return the page at an address, extracted. Raises PageError: there is none, or it has too little text."""
        page = self.pages.get(canonical_url(url))
        if page is None:
            raise PageError(f"{url} is not among the pages of this frozen web")
        return extract(FetchedPage(url, page.url, "text/html", page.html.encode(), "utf-8"))


class _TopicFile(BaseModel):
    title: str
    article: str
    pages: list[WebPage]


def read_topic(file: Path) -> tuple[str, FrozenWeb]:
    """Return the title of a topic's file, and its web without Wikipedia and what repeats the topic's article.

    Raises DatasetError: it cannot be read, is too large, or damaged.
    """
    value = read_model(file, _TopicFile)
    pages = {page.url: replace(page, title=readable_title(page.title)) for page in value.pages}
    documents = (TopicDocument(page.url, page.title, plain_markdown(page.text), "search") for page in pages.values())
    human = HumanArticle(value.title, "", plain_markdown(value.article))
    kept = without_copies(Topic(file.name, value.title, human, usable(documents))).documents
    return value.title, FrozenWeb([pages[one.url] for one in kept if not repeats_wikipedia(one.url)])


def written(
    topic: str,
    web: FrozenWeb,
    settings: Mapping[str, Any],
    resumed: Path | None = None,
    *,
    recipe: str = DEFAULT,
    sinks: Sequence[EventSink] = (),
    **objects: Any,
) -> tuple[Article, Path]:
    """Return an article from a frozen web, and the run's folder; ``objects``: arguments of ``Storm``."""
    started = [resumed] if resumed else []
    sink = CallbackSink(lambda event: started.append(Path(event.folder)) if isinstance(event, RunStarted) else None)
    as_on_the_web = {"read_pages": "always", "source_policy": "standard", "search_cache": "off"}
    values = {**as_on_the_web, "wikipedia_contents": "never", "lm_timeout": _TIMEOUT, **settings}
    storm = Storm(Settings.build(values), search=web, sinks=[sink, *sinks], **objects)
    # A run fetches from the web; nothing of the package's surface lets it fetch elsewhere.
    with patch.object(session, "RunSearch", partial(RunSearch, fetch=web.fetch)):
        article = storm.resume(resumed, Article) if resumed else storm.write(topic, recipe)
    return article, started[-1]


def longest_chain(events: Path) -> int:
    """Return calls of the longest chain, by a run's ``events.jsonl``: each began after the one before it had ended."""
    chains: list[tuple[float, int]] = []  # end of a call, and the calls of the longest chain that ends with it
    calls = [line for line in read_lines(events) if line["event"] == "CallFinished"]
    for start, end in sorted((call["at"] - call["seconds"], call["at"]) for call in calls):
        chains.append((end, 1 + max((length for ended, length in chains if ended <= start), default=0)))
    return max((length for _, length in chains), default=0)


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the values of a run's file of JSON lines. Raises OSError: as ``read_records``; ValueError: not JSON."""
    return [json.loads(line) for line in read_records(file) if line]


def report(article: Article, folder: Path) -> Iterator[str]:
    """Return the printed lines about a run: its cost, and the outcomes of the pages found."""
    results = [line["value"] for line in read_lines(folder / "journal.jsonl") if line["kind"] == "search"]
    found = {(one["url"], one["text"]): one for result in results for one in result["snippets"]}
    read = [one for one in found.values() if one["origin"] == "page"]
    usage = article.usage
    yield f"folder: {folder}"
    yield f"tokens: {usage.tokens_in:,} in, {usage.tokens_out:,} out; calls: {usage.calls}"
    yield f"longest chain of calls: {longest_chain(folder / 'events.jsonl')}"
    yield f"searches: {len(results)}; pages returned: {len({url for url, _ in found})}; passages: {len(found)}"
    yield f"passages of whole pages: {len(read)}, of which dated: {sum(1 for one in read if one['published'])}"
    for what in ("excluded", "unread"):
        reasons = {one["url"]: one["reason"] for result in results for one in result[what]}
        yield f"{what}: {len(reasons)}"
        yield from (f"  {printable(url)}: {printable(reason)}" for url, reason in sorted(reasons.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write an article, and print what it took."""
    parser = options(__doc__, "cache")
    parser.add_argument("topic", type=Path, help="file of Wiki Live")
    parser.add_argument("--lm", required=True, help="the language model")
    parser.add_argument("--out", type=Path, required=True, help="folder of runs")
    parser.add_argument("--resume", type=Path, help="folder of an interrupted run that goes on")
    for name in ("api-base", "perspectives", "turns", "seed"):
        parser.add_argument(f"--{name}", help=f"the setting {name.replace('-', '_')}")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting")
    args = parser.parse_args(arguments)
    named = {name: getattr(args, name) for name in ("lm", "out", "cache", "api_base", "perspectives", "turns", "seed")}
    settings = {name: value for name, value in named.items() if value is not None}
    settings |= dict(one.split("=", 1) for one in args.set)
    with stating_errors():
        title, web = read_topic(args.topic)
    print(f"{printable(title)}: a web of {len(web.pages)} pages, no tables of contents", flush=True)
    print(*report(*written(title, web, settings, args.resume)), sep="\n")


if __name__ == "__main__":
    main()

"""Draws topics from the embedded corpus by a seed, and writes their articles and a kit for blind readers; no model.

    python -m storm_benchmarks.embedded_draw --seed 11503 --to reading [--cache cache]

The first six topics with 60 to 300 words in sentences that name them, and the first six with 1,500 or more. The
sentences are those of ``storm write TOPIC --search wiki-leads`` where interviews find nothing that a search for the
topic does not; headings that a model would give are the provisional ones. ``kit.jsonl`` has sentence, topic and source
in random order, ``articles.md`` the articles with numbered sentences.
"""

import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from storm_benchmarks.shared import options
from storm_pipeline.assets import LEADS, fetch
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.identity import page_address
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.relevance import bare_name
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.steps.searching import look_up_topic
from storm_pipeline.storm import Storm
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Outline, Snippet
from storm_pipeline.writers.small.subject import sources_of, subject_of

_NARROW, _BROAD, _EACH = range(60, 301), range(1500, 10**9), 6
_NO_MODEL = "openai/none@http://127.0.0.1:9/v1"


def main() -> None:
    """Write the kit of a draw."""
    parser = options(__doc__, "cache")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--to", type=Path, required=True, help="folder of the kit")
    args = parser.parse_args()
    records = json.loads(fetch(LEADS, args.cache).read_bytes())
    pages = [Snippet(page_address(title), title, plain_text(own["extract"])) for title, own in records.items()]
    topics = draw([page for page in pages if page.text], args.seed)
    with tempfile.TemporaryDirectory() as out:
        storm = Storm(lm=_NO_MODEL, search="wiki-leads", top_k=5, writing="sentences", cache=args.cache, out=Path(out))
        write_kit(args.to, {topic: storm.in_run(topic, lambda ctx: article(ctx, ctx.run.topic)) for topic in topics})


def draw(pages: Sequence[Snippet], seed: int) -> list[str]:
    """Titles of pages by a seed: six of narrow topics, then six of broad ones, fewer if the corpus has no more."""
    order = sorted(pages, key=lambda page: page.title)
    random.Random(seed).shuffle(order)
    found: dict[range, list[str]] = {_NARROW: [], _BROAD: []}
    for page in order:
        number = _words_on(page, pages) if any(len(own) < _EACH for own in found.values()) else 0
        for sizes, own in found.items():
            if number in sizes and len(own) < _EACH:
                own.append(page.title)
    return [*found[_NARROW], *found[_BROAD]]


def _words_on(page: Snippet, pages: Sequence[Snippet]) -> int:
    """Words of all sentences that name a page's subject, or stand on it."""
    name = bare_name(page.title).casefold()
    near = [one for one in pages if name in one.text.casefold() or one == page]
    subject = subject_of(page.title, sources_of([page, *near]))
    facts = ((one, fact.text) for one in near for fact in facts_of(one))
    return sum(word_count(text) for one, text in facts if one.source_id in subject.own or subject.named_in(text))


def article(ctx: RunContext, topic: str) -> list[dict[str, str]]:
    """The sentences that the writer takes, in order: heading, sentence, and the title and text of its source."""
    ctx = look_up_topic(ctx, topic)
    evidence = ctx.writer.gather(ctx, Material(ctx.user_pieces.outline or Outline(topic)))
    parts: list[tuple[str, Sequence[Fact]]] = [("", evidence.for_lead)]
    parts += [(own.heading.title, own.facts) for own in evidence.sections if not own.is_empty]
    known = {"topic": topic, "topic_is": ctx.about(topic)}
    return [{**known, "heading": heading, **_told(ctx, fact)} for heading, facts in parts for fact in facts]


def _told(ctx: RunContext, fact: Fact) -> dict[str, str]:
    source = ctx.store.snippet(fact.citation.snippet_id)
    return {"sentence": fact.text, "source_title": source.title, "source_text": source.text}


def write_kit(folder: Path, articles: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    """``kit.jsonl`` and ``articles.md``; sentences are numbered from 1, topic by topic as given."""
    rows: list[dict[str, Any]] = []
    for row in (row for own in articles.values() for row in own):
        rows.append({"id": len(rows) + 1, **row})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "articles.md").write_text("\n".join(_markdown(rows)), encoding="utf-8")
    random.Random(len(rows)).shuffle(rows)
    lines = (json.dumps({key: row[key] for key in row if key != "heading"}, ensure_ascii=False) for row in rows)
    (folder / "kit.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _markdown(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    topic = heading = None
    for row in rows:
        if row["topic"] != topic:
            yield f"\n# {row['topic']}\n"
        if row["heading"] and (row["topic"], row["heading"]) != (topic, heading):
            yield f"\n## {row['heading']}\n"
        topic, heading = row["topic"], row["heading"]
        yield f"[{row['id']}] {row['sentence']}"


if __name__ == "__main__":
    main()

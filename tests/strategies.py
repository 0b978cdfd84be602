"""Hypothesis strategies for the values that pass between steps."""

from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from storm_pipeline import types
from storm_pipeline.run import events
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Conversation, Heading, Paragraph, Section, Sentence, Snippet, Source

T = TypeVar("T")

HOSTILE = [
    *("<script>alert(1)</script>", "</style><script>x</script>", "{{7*7}} {% raw %}", '"onmouseover="x()'),
    *("' onload='x()", "<img src=x onerror=y>", "[3] [sic] [^1]", "*a* _b_ `c` ~~d~~", "# no heading", "- no list"),
    *("1. no list", "1) no list", "> no quote", "--- | ===", "===", "***", "```", "two\nlines\n\n# three"),
    *("back\\slash\\", "&amp; &lt; &#39;", "![x](y)", "[x](javascript:alert(1))", "<!-- c -->", "]]> --> */"),
    *("1. [T](https://a.b)", "1. T — https://a.b", "$x$ |a|b|", "中文。العربية", "a [1]", "## References"),
]
URLS = [
    *("https://example.org/a", "http://example.org/b?x=1&amp;y=2&copy;=3", "https://en.wikipedia.org/wiki/A_(b)"),
    *("file:///home/user/notes.pdf", "javascript:alert(1)", "data:text/html,<script>alert(1)</script>"),
    *("JaVaScRiPt:alert('x')", "corpus:notes/one.md", 'https://example.org/"><script>alert(1)</script>'),
    *("https://example.org/a b\\c<d>[e]*f_", "//example.org/x", "notes — more.txt", "https://[bad", ""),
]

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=20),
    st.lists(st.sampled_from([*HOSTILE, "word", "Ein Satz.", "[12]"]), min_size=1, max_size=3).map(" ".join),
)
urls = st.one_of(
    st.sampled_from(URLS),
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1, max_size=12).map(
        "https://h.org/{}".format
    ),
)


def _tuples(items: st.SearchStrategy[T], max_size: int) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(items, max_size=max_size).map(tuple)


headings = st.builds(Heading, title=texts, children=_tuples(st.builds(Heading, title=texts), 2))
outlines = st.builds(types.Outline, topic=texts, sections=_tuples(headings, 3))
_TOLD = ("published", "author", "site", "language", "publisher", "doi", "accessed")
snippets = st.builds(
    Snippet,
    url=urls,
    page=st.none() | st.integers(1, 999),
    origin=st.sampled_from(["snippet", "page"]),
    **dict.fromkeys(("title", "text", "engine"), texts),
    **dict.fromkeys(_TOLD, st.none() | texts),
)
_counts = st.integers(0, 10**6)
_seconds = st.floats(0, 1e6)
_rows = st.builds(
    types.UsageRow,
    seconds=_seconds,
    cost=st.none() | _seconds,
    **dict.fromkeys(("stage", "role", "model"), texts),
    **dict.fromkeys(("calls", "tokens_in", "tokens_cached", "tokens_out"), _counts),
)
usages = st.builds(types.Usage, rows=_tuples(_rows, 2), seconds=_seconds)
_problems = st.builds(types.Problem, stage=texts, kind=st.sampled_from(["failure", "degradation"]), detail=texts)
reports = st.builds(types.Report, invented_citations=_counts, uncited=_counts, problems=_tuples(_problems, 2))


# Which of an article's snippets a sentence cites is drawn as numbers, and bound to the snippets at the end.
_numbers = st.integers(0, 9).map(lambda n: Citation(str(n), ""))
_numbered = st.builds(Sentence, text=texts, citations=_tuples(_numbers, 3))
_paragraphs = _tuples(st.builds(Paragraph, sentences=_tuples(_numbered, 3)), 2)
_leaf = st.builds(Section, heading=texts, paragraphs=_paragraphs)
_sections = st.builds(Section, heading=texts, paragraphs=_paragraphs, subsections=_tuples(_leaf, 2))
_turns = st.builds(
    types.Turn, question=texts, queries=_tuples(texts, 1), answer=_tuples(_numbered, 2), snippets=_tuples(snippets, 1)
)
_perspectives = st.builds(types.Perspective, name=texts, focus=texts)
_conversations = st.builds(Conversation, perspective=_perspectives, turns=_tuples(_turns, 1))
_bodies = st.lists(texts, min_size=1, max_size=2)
_articles = st.builds(
    Article,
    title=texts,
    lead=_paragraphs,
    sections=_tuples(_sections, 2),
    outline=outlines,
    conversations=_tuples(_conversations, 1),
    usage=usages,
    report=reports,
    written=st.none() | texts | st.just("2026-11-22"),
)
_names = st.sampled_from(["Jane Doe", "Doe, Jane", "Reuters Staff", "Vincent van Gogh", "and others", "{", "陳大文"])
_about = st.fixed_dictionaries(
    {
        "page": st.none() | st.integers(1, 9),
        "author": st.none() | texts | st.lists(_names, min_size=1, max_size=3).map("; ".join),
        "published": st.none() | texts | st.sampled_from(["2019", "2019-05", "2019-05-02", "0000-01-01", "2019-99-99"]),
        "accessed": st.none() | st.just("2026-11-22") | texts,
        "site": st.none() | texts,
        "publisher": st.none() | texts,
        "language": st.none() | texts,
        "doi": st.none() | texts | st.sampled_from(["10.1000/182", "10.1002/(sici)1<1::aid>3.0.co;2-#%{}", "10.1/x"]),
    }
)
_sources = st.lists(st.tuples(urls, texts, _bodies, _about), max_size=4)


@st.composite
def articles(draw: st.DrawFn) -> Article:
    """Articles with hostile texts and addresses, whose every citation points at a snippet they hold."""
    known: dict[str, Source] = {}
    for url, title, bodies, about in draw(_sources):
        pieces = {s.id: s for s in (Snippet(url, title, body, **about) for body in bodies)}
        known.setdefault(source_id(url), Source(source_id(url), url, title, tuple(pieces.values())))
    pool = [Citation(s.id, one.id, draw(spans_of(one.text))) for s in known.values() for one in s.snippets]
    article = draw(_articles)
    return replace(
        article,
        sources=tuple(known.values()),
        lead=tuple(_bound(p, pool) for p in article.lead),
        sections=tuple(_bound_section(s, pool) for s in article.sections),
        conversations=tuple(
            replace(c, turns=tuple(replace(t, answer=_bound(Paragraph(t.answer), pool).sentences) for t in c.turns))
            for c in article.conversations
        ),
    )


def spans_of(text: str) -> st.SearchStrategy[types.Spans]:
    """Parts of a text, in order and apart."""
    cuts = st.lists(st.integers(0, len(text)), unique=True, max_size=6).map(sorted)
    return cuts.map(lambda found: tuple(zip(found[::2], found[1::2], strict=False)))


def _bound(paragraph: Paragraph, pool: list[Citation]) -> Paragraph:
    def cited(sentence: Sentence) -> tuple[Citation, ...]:
        numbers = [int(c.source_id) for c in sentence.citations] if pool else []
        return tuple(dict.fromkeys(pool[n % len(pool)] for n in numbers))

    return Paragraph(tuple(Sentence(s.text, cited(s)) for s in paragraph.sentences))


def _bound_section(section: Section, pool: list[Citation]) -> Section:
    return Section(
        section.heading,
        tuple(_bound(p, pool) for p in section.paragraphs),
        tuple(_bound_section(s, pool) for s in section.subsections),
    )


def happenings(stages: st.SearchStrategy[str], texts: st.SearchStrategy[str]) -> st.SearchStrategy[events.Event]:
    """Events of every kind, of some stages."""
    numbers, seconds, few = st.integers(0, 10**6), st.floats(0, 1e5), st.integers(0, 9)
    roles = st.sampled_from(["asker", "writer"])
    return st.one_of(
        st.builds(events.CallFinished, stages, roles, texts, *[numbers] * 3, seconds, st.none() | seconds),
        st.builds(events.RunStarted, stages, texts, texts, st.integers(1, 3)),
        st.builds(events.RunFinished, stages, seconds, texts),
        st.builds(events.RunStopped, stages, seconds, texts),
        st.builds(events.StageStarted, stages, st.none() | few),
        st.builds(events.StageAdvanced, stages, texts),
        st.builds(events.StageFinished, stages, seconds),
        st.builds(events.SectionWritten, stages, few, texts, texts, st.lists(texts, max_size=2).map(tuple)),
        st.builds(events.Retried, stages, texts, texts, seconds),
        st.builds(events.Reused, stages, st.sampled_from(["reply", "search", "contents"])),
        st.builds(events.Searched, stages, texts, texts, numbers, numbers, seconds),
        st.builds(events.Downloading, stages, texts, numbers, numbers),
        st.builds(events.Excluded, stages, texts, texts),
        st.builds(events.Counted, stages, texts, numbers),
        st.builds(events.Noted, stages, texts),
        st.builds(events.Degraded, stages, texts),
        st.builds(events.Failed, stages, texts, st.booleans()),
    )

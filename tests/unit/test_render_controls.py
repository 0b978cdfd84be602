"""Control characters and overrides of direction from models and pages: none comes out in an article."""

import io
import zipfile
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.output.export.formats import FORMATS, export
from storm_pipeline.output.render.html import to_html
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.types import (
    Article,
    Citation,
    Conversation,
    Outline,
    Paragraph,
    Perspective,
    Problem,
    Report,
    Section,
    Sentence,
    Snippet,
    Source,
    Turn,
    Usage,
    UsageRow,
)

BAD = "\x1b\x07\x00\x9b\u202a\u202b\u202d\u202e\u2066\u2067\u2068"
hostile = st.text(st.sampled_from(f"ab 1.[]<{BAD}\u202c\u2069\u200d"), max_size=12).map(lambda text: f"x{text}")


def article_of(texts: list[str]) -> Article:
    title, heading, said, name, focus, question, detail, url, page, model, published, site = texts
    snippet = Snippet(f"https://example.org/{url}", page, said, published=published, site=site, author=name)
    source = Source(snippet.source_id, snippet.url, page, (snippet,))
    sentence = Sentence(said, (Citation(source.id, snippet.id),))
    body = (Paragraph((sentence,)),)
    return Article(
        title,
        body,
        (Section(heading, body),),
        (source,),
        Outline(title),
        (Conversation(Perspective(name, focus), (Turn(question, (question,), (sentence,)),)),),
        usage=Usage((UsageRow(heading, name, model, 1),)),
        report=Report(problems=(Problem(heading, "failure", detail),)),
    )


def outputs(article: Article) -> Iterator[str]:
    """The article in Markdown, HTML and every export format whose files are text or archives of text."""
    yield to_markdown(article)
    yield to_html(article)
    for name in FORMATS:
        if name == "pdf":  # drawn from the HTML
            continue
        content = export(article, name)
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                yield from (archive.read(entry).decode() for entry in archive.namelist() if is_text(entry))
        else:
            yield content.decode()


def is_text(entry: str) -> bool:
    return entry.endswith((".xml", ".xhtml", ".opf", ".rels", ".css"))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(hostile, min_size=12, max_size=12))
def test_no_text_of_an_article_steers_who_reads_it(texts: list[str]) -> None:
    for rendered in outputs(article_of(texts)):
        assert not set(BAD) & set(rendered)


def test_every_kind_of_text_is_tried_with_every_bad_character() -> None:
    for rendered in outputs(article_of([f"x{character}y{BAD}" for character in (BAD + "z")[:12]])):
        assert not set(BAD) & set(rendered)

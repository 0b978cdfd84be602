"""Control characters and overrides of direction from models and pages: none comes out in an article."""

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.render.html import to_html
from storm_pipeline.render.markdown import to_markdown
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


@given(st.lists(hostile, min_size=12, max_size=12))
def test_no_text_of_an_article_steers_who_reads_it(texts: list[str]) -> None:
    title, heading, said, name, focus, question, detail, url, page, model, published, site = texts
    snippet = Snippet(f"https://example.org/{url}", page, said, published=published, site=site, author=name)
    source = Source(snippet.source_id, snippet.url, page, (snippet,))
    sentence = Sentence(said, (Citation(source.id, snippet.id),))
    body = (Paragraph((sentence,)),)
    article = Article(
        title,
        body,
        (Section(heading, body),),
        (source,),
        Outline(title),
        (Conversation(Perspective(name, focus), (Turn(question, (question,), (sentence,)),)),),
        usage=Usage((UsageRow(heading, name, model, 1),)),
        report=Report(problems=(Problem(heading, "failure", detail),)),
    )
    for rendered in (to_markdown(article), to_html(article)):
        assert not set(BAD) & set(rendered)

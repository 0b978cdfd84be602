"""Images in an article's page and Markdown: where they stand, their credit, and what is never rendered."""

import json
from dataclasses import replace

from articles import section, sentence, source
from export_readers import parse_markdown, sentence_table
from hypothesis import given, settings
from hypothesis import strategies as st
from image_server import image
from markdown_it import MarkdownIt
from strategies import articles, texts
from test_render_html import ALLOWED, PLAIN, Page

from storm_pipeline.render.html import to_html
from storm_pipeline.render.json import from_json, to_json
from storm_pipeline.render.links import placed_images
from storm_pipeline.render.markdown import to_markdown
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Image


def test_an_article_with_images_is_read_back() -> None:
    page = source("tower", "It is old.")
    article = Article(
        "x", sections=(section("Age", sentence("It is old.", page)),), sources=(page,), images=(image(page.id),)
    )
    assert from_json(to_json(article)) == article
    record = json.loads(to_json(article))
    del record["article"]["images"]
    assert from_json(json.dumps(record)) == replace(article, images=())


FIRST, SECOND, UNCITED = source("a", "It is old."), source("b", "It is tall."), source("c", "No.")
PICTURES = "https://upload.wikimedia.org/wikipedia/commons/"


def illustrated(*images: Image) -> Article:
    """The lead cites both sources; the first section the first source twice, the second one the second twice."""
    first, second = sentence("Old.", FIRST), sentence("Tall.", SECOND)
    below = section("Years", first)
    body = (section("Age", first, below=(below,)), section("Size", second, second, first), section("Rest", "Nothing."))
    lead = section("", first, second).paragraphs
    return Article("Tower", lead, body, (FIRST, SECOND, UNCITED), images=images)


def test_an_image_stands_where_its_source_is_cited_most() -> None:
    one, two, none = image(FIRST.id), image(SECOND.id, url=PICTURES + "b"), image(UNCITED.id, url=PICTURES + "c")
    assert placed_images(illustrated(one, two, none)) == {1: one, 2: two}
    assert placed_images(illustrated()) == placed_images(Article("x", images=(one,))) == {}


def test_of_several_images_in_a_place_the_most_cited_is_shown_and_none_twice() -> None:
    one, again = image(FIRST.id), image(FIRST.id, url=PICTURES + "again")
    assert placed_images(illustrated(one, again)) == {1: one}
    assert placed_images(illustrated(one, image(SECOND.id))) == {1: one}
    merged = replace(illustrated(one, image(SECOND.id, url=PICTURES + "b")), sections=())
    assert placed_images(merged) == {0: one}
    more = (*merged.lead, *section("", sentence("Tall.", SECOND)).paragraphs)
    assert [own.source_id for own in placed_images(replace(merged, lead=more)).values()] == [SECOND.id]


def test_a_page_shows_an_image_with_its_credit() -> None:
    page = to_html(illustrated(image(FIRST.id)))
    (picture,) = [attributes for tag, attributes in Page(page).tags if tag == "img"]
    assert picture == {
        "src": image().url, "alt": "A tower", "loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer",
    }  # fmt: skip
    assert "Age A tower (Ada Low, CC BY-SA 4.0, Wikimedia Commons) Old." in Page(page).visible
    assert f'<a href="{image().licence_url}" rel="license noopener noreferrer">CC BY-SA 4.0</a>' in page
    assert f'<a href="{image().file_page}" rel="noopener noreferrer">Wikimedia Commons</a>' in page
    assert page.index("<figure>") > page.index('id="s1"')


def test_only_a_page_with_images_may_load_them() -> None:
    def policy(article: Article) -> str:
        tags = Page(to_html(article)).tags
        return next(a["content"] or "" for _, a in tags if a.get("http-equiv") == "Content-Security-Policy")

    assert "; img-src https://upload.wikimedia.org https://thumb.wikimedia.org; base-uri" in policy(
        illustrated(image(FIRST.id))
    )
    assert "img-src" not in policy(illustrated(image(UNCITED.id)))


def test_markdown_shows_an_image_with_its_credit() -> None:
    article = illustrated(
        image(FIRST.id, alt="A tower [1]."), image(SECOND.id, url=PICTURES + "b", licence_url="", author="")
    )
    text = to_markdown(article)
    assert (
        f"## Age\n\n![A tower \\[1\\].]({image().url})\n*A tower \\[1\\]. Ada Low, "
        f"[CC BY-SA 4.0]({image().licence_url}), [Wikimedia Commons]({image().file_page})*\n\nOld.[1]\n" in text
    )
    assert f"*A tower. CC BY-SA 4.0, [Wikimedia Commons]({image().file_page})*" in text
    assert text.count("![") == 2


@given(articles(), st.lists(st.tuples(texts, texts, texts, st.integers(0, 9)), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_hostile_descriptions_stay_text(article: Article, facts: list[tuple[str, str, str, int]]) -> None:
    ids = [own.id for own in article.references] or ["none"]
    images = tuple(
        image(ids[n % len(ids)], url=f"{PICTURES}{k}_(x)", alt=alt, author=author, licence=licence)
        for k, (alt, author, licence, n) in enumerate(facts)
    )
    article = replace(article, images=images)
    shown = placed_images(article)
    page = Page(to_html(article))
    assert {tag for tag, _ in page.tags} <= ALLOWED | {"img", "figure", "figcaption"}
    assert page.raw == PLAIN.raw
    assert sorted(str(a["src"]) for tag, a in page.tags if "src" in a) == sorted(one.url for one in shown.values())
    for one in shown.values():
        assert all(tidy(text) in page.visible for text in (one.alt, one.author, one.licence))
    text = to_markdown(article)
    assert parse_markdown(text) == parse_markdown(to_markdown(replace(article, images=())))
    assert len(parse_markdown(text)) == len(sentence_table(article))
    inline = [child for token in MarkdownIt("commonmark").parse(text) for child in token.children or ()]
    found = [child for child in inline if child.type == "image"]
    assert sorted(str(child.attrs["src"]) for child in found) == sorted(one.url for one in shown.values())
    assert not {child.type for child in inline} & {"html_inline", "code_inline", "strong_open"}
    assert sum(child.type == "em_open" for child in inline) == len(shown) + 1  # the line of counts
    assert from_json(to_json(article)) == article

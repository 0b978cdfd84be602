"""Citation markers: every form is read alike, and other brackets stay in the text."""

import re

import pytest
from citation_forms import FORMS, STAYS
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.evidence.citations import Claim
from storm_pipeline.method.writers.drafts import RemarkReply, read_draft, read_replies
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.text.markers import mark_citations, without_markers

SHOWN = 14


@pytest.mark.parametrize("form", FORMS)
def test_a_reply_to_a_remark_is_read_alike_in_every_form(form: str) -> None:
    reply = FORMS[form]("1: The dam was built of concrete [2] [3].")
    assert read_replies(reply, SHOWN) == {1: RemarkReply(Claim("The dam was built of concrete.", (1, 2)))}


@pytest.mark.parametrize("text", STAYS)
def test_brackets_that_cite_nothing_stay(text: str) -> None:
    draft = read_draft(text, SHOWN)
    assert " ".join(claim.text for claim in draft.claims()) == re.sub(r" ?\[1\](?=[.]?$)", "", text)
    assert draft.invented == 0
    assert {position for claim in draft.claims() for position in claim.cited} <= {0}


@pytest.mark.parametrize("text", [one for one in STAYS if "`" not in one and "$" not in one])  # marks of Markdown
def test_brackets_that_cite_nothing_stay_in_an_imported_article(text: str) -> None:
    sources = "\n\n## References\n" + "".join(f"{n}. [Page](https://a.example/{n})\n" for n in range(1, SHOWN + 1))
    pages = AvailablePages([Reference(f"https://a.example/{n}", "Page", text) for n in range(1, SHOWN + 1)])
    article = pages.cite(markdown_article("Dam", text + sources))
    told = [sentence.text for sentence in article.sentences()]
    assert told == [claim.text for claim in read_draft(text, SHOWN).claims()]
    again = pages.cite(markdown_article("Dam", to_markdown(article)))
    assert [sentence.text for sentence in again.sentences()] == told


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("The city [3] was founded in 1900 [4].", (2, 3)),
        ("The city[3] was founded in 1900[4].", (2, 3)),
        ("The city [3] was founded in 1900.", (2,)),
        ("The city [1]–[3] was founded [1]–[3].", (0, 1, 2)),
        ("该市[3]建于1900年[4]。", (2, 3)),
        ("댐[3]은 1936년에 완공되었다[4].", (2, 3)),
    ],
)
def test_a_single_number_within_a_clause_cites(text: str, cited: tuple[int, ...]) -> None:
    (claim,) = read_draft(text, SHOWN, "ko" if "댐" in text else "zh" if "市" in text else "en").claims()
    assert claim.cited == cited


WORDS = st.lists(st.sampled_from(["dam", "of", "1936", "it", "Orrin", "km", "long", "(old)", "5–8", "C"]), min_size=4)
SENTENCES = st.tuples(WORDS, st.lists(st.integers(4, SHOWN), min_size=1, max_size=3, unique=True))


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.sampled_from(sorted(FORMS)))
@settings(max_examples=3 * settings().max_examples)
def test_any_sentences_are_read_alike_in_every_form(sentences: list[tuple[list[str], list[int]]], form: str) -> None:
    texts = [f"So {' '.join(words)} stood there" for words, _ in sentences]
    cited = [" ".join(f"[{number}]" for number in numbers) for _, numbers in sentences]
    reply = " ".join(f"{text} {numbers}." for text, numbers in zip(texts, cited, strict=True))
    expected = read_draft(reply, SHOWN)
    assert [claim.cited for claim in expected.claims()] == [tuple(n - 1 for n in own) for _, own in sentences]
    assert read_draft(FORMS[form](reply), SHOWN).claims() == expected.claims()


@given(st.text(alphabet="ab 1[]()²<>.,\n\\{}^$`", max_size=40), st.integers(0, 3))
@settings(max_examples=3 * settings().max_examples)
def test_nothing_but_markers_is_lost(text: str, shown: int) -> None:
    read = mark_citations(text, shown)
    assert not set(re.sub("[\ufde0-\ufdea]", "", read)) - set(text)
    assert sorted(re.sub("[^ab]", "", read)) == sorted(re.sub("[^ab]", "", text)) or "[" in text or "<" in text
    assert len(without_markers(text, "\0")) == len(text)


def test_escaped_brackets_in_an_open_one_are_read_in_one_way() -> None:
    text = "[" + r"\[]" * 40 + "!"  # each in two ways takes a week
    assert without_markers(text) == mark_citations(text, 1) == text


def test_reserved_digits_without_end_are_no_mark() -> None:
    text = "\ufde0" * 1_000_000  # from each of them takes an hour
    assert without_markers(text) == text

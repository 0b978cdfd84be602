"""The screen: citations that stand, are mended, or go back to the writer; quotations and copied words."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE
from work import calls_of

from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.passages import Passage, passages
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.screen import Limits, Screen, ScreenVerdict
from storm_pipeline.types import Snippet

EMBED = HashingEmbedder(256).embed
DAM = Snippet(
    "https://a.org/dam",
    "Orrin Dam",
    "The Orrin Dam was built of concrete by two thousand men above the village of Lower Orrin.",
)
YEARS = Snippet(
    "https://b.org/history", "History of the dam", "Work of the men on the Orrin Dam lasted from 1931 until 1936."
)
LAKE = Snippet("https://c.org/lake", "Orrin Lake", "Char live in the cold lake, which is 40 kilometres long and deep.")
GERMAN = Snippet(
    "https://d.de/see",
    "Stausee",
    "Der Stausee ist vierzig Kilometer lang und wurde von der Stadt für die Versorgung mit Strom und Wasser angelegt.",
)
ALL = (DAM, YEARS, LAKE, GERMAN)
LIMITS = Limits()
NOR = ", nor does any other passage shown"


def judged(text: str, *cited: int, shown: tuple[Snippet, ...] = ALL, limits: Limits = LIMITS) -> ScreenVerdict:
    """The verdict on a sentence that cites passages by their numbers, from 1."""
    screen = Screen(passages(shown), known="Orrin Dam", embed=EMBED, limits=limits)
    (verdict,) = screen.judge([Claim(text, tuple(number - 1 for number in cited))])
    return verdict


def urls(verdict: ScreenVerdict, shown: tuple[Snippet, ...] = ALL) -> list[str]:
    by_id = {own.id: own.url for own in shown}
    return [by_id[citation.snippet_id] for citation in verdict.sentence.citations]


@pytest.mark.parametrize(
    ("text", "cited", "kept", "change", "problem"),
    [
        ("Two thousand men built the dam of concrete.", (1,), [DAM], "", ""),
        ("Two thousand men built the dam of concrete, and char live in it.", (1, 3), [DAM, LAKE], "", ""),
        ("Two thousand men built the Orrin Dam of concrete until 1936.", (1, 2), [DAM, YEARS], "", ""),
        ("Work of the men on the Orrin Dam lasted until 1936.", (1,), [DAM, YEARS], "[2] cited too", ""),
        ("Char live in the cold lake, 40 kilometres long.", (2,), [LAKE], "[3] cited instead of [2]", ""),
        ("Char live in the cold lake, 40 kilometres long.", (), [LAKE], "[3] cited", ""),
        ("Penguins waltz beneath Antarctic moonlight.", (), [], "", f"it cites no passage{NOR}"),
        ("Penguins waltz in Antarctica.", (3,), [], "", f"[3] does not say this{NOR}"),
        ("Penguins waltz in Antarctica.", (1, 3), [], "", f"[1][3] do not say this{NOR}"),
        ("Два пингвина танцуют вальс под луной.", (1,), [], "", "it is not written in the letters of the article"),
    ],
)
def test_citations_stand_are_mended_or_go_back_to_the_writer(
    text: str, cited: tuple[int, ...], kept: list[Snippet], change: str, problem: str
) -> None:
    verdict = judged(text, *cited)
    assert urls(verdict) == [own.url for own in kept]
    assert (verdict.change, verdict.problem, verdict.is_only_copied) == (change, problem, False)


def test_a_number_that_no_passage_has_is_named() -> None:
    verdict = judged("Two thousand men built the Orrin Dam of concrete until 1947.", 1, 3)
    assert verdict.problem == "“1947” is not in [1][3]"
    assert DAM.url in urls(verdict)


def test_a_page_and_the_topic_tell_their_dates() -> None:
    dated = replace(DAM, published="2023-03-10")
    assert not judged("In 2023 the Orrin Dam of concrete stood above the village.", 1, shown=(dated,)).problem
    screen = Screen(passages((DAM,)), known="Orrin Dam in 2022", embed=EMBED)
    assert not screen.judge([Claim("In 2022 the Orrin Dam of concrete stood above the village.", (0,))])[0].problem


def test_a_passage_in_another_language_is_not_compared_but_for_numbers() -> None:
    verdict = judged("The reservoir was made to supply power and water.", 4)
    assert urls(verdict) == [GERMAN.url]
    assert not verdict.problem
    assert "“1999”" in judged("The reservoir was made in 1999 to supply power.", 4).problem


@pytest.mark.parametrize(
    ("language", "told", "said"),
    [
        ("de", "Der Turm wurde 1871 am Hafen errichtet.", "Am Hafen errichtete man 1871 den Turm."),
        ("fr", "La tour fut construite au port en 1871.", "On construisit la tour du port en 1871."),
        ("es", "La torre se construyó en el puerto en 1871.", "En 1871 construyeron la torre del puerto."),
        ("ru", "Башня была построена в порту в 1871 году.", "В 1871 году в порту построили башню."),
        ("ar", "بني البرج في الميناء القديم عام 1871.", "في عام 1871 أقيم برج الميناء القديم."),
        ("zh", "这座塔于1871年在港口建成。", "1871年，港口的塔建成。"),
        ("ja", "この塔は1871年に港に建設された。", "1871年、港に塔が建設された。"),
    ],
)
def test_the_screen_is_no_harder_for_a_language(language: str, told: str, said: str) -> None:
    shown = [Passage(told, (Snippet("https://a.org/", "", told),))]
    screen = Screen(shown, known="", embed=HashingEmbedder(64).embed, language=language)
    assert not screen.judge([Claim(said, (0,))])[0].problem


def test_a_sentence_of_the_article_is_read_in_its_language() -> None:
    said = Passage("Hans Otto Roth und die Siebenbürger: 1,584 votes.", (DAM,))
    claim = Claim("Hans Otto Roth won 1,584 votes.", (0,))
    for source_language, is_problem in (("de", True), ("en", False)):
        screen = Screen([said], known="", embed=EMBED, source_language=lambda _, own=source_language: own)
        assert bool(screen.judge([claim])[0].problem) is is_problem


def test_of_a_page_the_snippets_that_say_it_are_cited_and_no_copy() -> None:
    first = Snippet("https://p.org", "P", "The dam was built of concrete. The men lived in huts beside the river.")
    second = Snippet("https://p.org", "P", "The men lived in huts beside the river. Char live in the lake.")
    assert [
        one.snippet_id for one in judged("Char live in the lake.", 1, shown=(first, second)).sentence.citations
    ] == [second.id]
    both = judged("The dam was built of concrete, and char live in the lake.", 1, shown=(first, second))
    assert {one.snippet_id for one in both.sentence.citations} == {first.id, second.id}
    copy = replace(DAM, url="https://mirror.net/dam")
    copied = judged("Two thousand men built the dam of concrete.", 1, shown=(DAM, copy))
    assert {one.source_id for one in copied.sentence.citations} == {DAM.source_id}


def test_the_snippet_that_alone_has_a_number_is_cited_too() -> None:
    words = "The fishers of the cold lake caught char by the ton in nets that the women of Lower Orrin made each winter"
    first = Snippet("https://c.org/lake", "Lake", f"{words}.")
    second = Snippet("https://c.org/lake", "Lake", f"{words[40:]}. It was sold in Perth until 1931.")
    verdict = judged(f"{words} until 1931.", 1, shown=(first, second))
    assert {one.snippet_id for one in verdict.sentence.citations} >= {first.id, second.id}


def test_a_long_run_of_a_passages_words_is_a_copy_and_a_quotation_is_not() -> None:
    text = "the old men of the valley told the young men that the river would never be free again"
    shown = (Snippet("https://v.org", "Valley", f"At the inn {text}, and nobody laughed about it."),)
    copied = judged(f"One evening {text}.", 1, shown=shown)
    assert copied.is_only_copied
    assert copied.problem == "it repeats the words of [1]: say it in words of your own, or quote a legal formula"
    assert urls(copied, shown) == ["https://v.org"]
    assert not judged(f"It is told that “{text}”.", 1, shown=shown).problem
    assert not judged(f"One evening {text}.", 1, shown=shown, limits=Limits(run=30)).problem


@pytest.mark.parametrize("run", [16, 0])
def test_copied_words_are_found_in_time_among_repetitions(run: int) -> None:
    text, reply = "the dam is grey " * 5_000, "grey is the dam " * 5_000 + " ".join(f"grey{i}" for i in range(5_000))
    screen = Screen([Passage(text, (DAM,))], known="", embed=EMBED, limits=Limits(run=run))
    assert screen.copied_from(reply) is None
    assert screen.copied_from(f"{reply} {text}") == (0 if run else None)


@pytest.mark.parametrize(("length", "is_copied"), [(20, False), (40, True)])
def test_copied_words_of_a_script_without_spaces_are_counted_as_words(length: int, is_copied: bool) -> None:
    text = "丝绸之路是古代连接东西方的商贸路线起源于西汉时期经甘肃新疆到中亚西亚并联结地中海各国"[:length]
    shown = [Passage(f"据说{text}云云", (DAM,))]
    screen = Screen(shown, known="", embed=EMBED, language="zh")
    assert (screen.copied_from(text) == 0) is is_copied


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("“Char live in the cold LAKE”", [LAKE.url]),
        ("char live in the cold lake … built of concrete by two thousand", [DAM.url, LAKE.url]),
        ("「vierzig Kilometer lang und」", [DAM.url, GERMAN.url]),
        ("live in the cold lak", [LAKE.url]),  # extraction glues words together
        ("pike live in the lake", None),
        ("Char live in the cold lake. It is warm in summer.", None),
        ("in the", None),
        ("", None),
    ],
)
def test_a_quotation_proves_a_sentence(quotation: str, found: list[str] | None) -> None:
    screen = Screen(passages(ALL), known="Orrin Dam", embed=EMBED)
    verdict = screen.by_quotation(Claim("Salmonids are found there.", (0,)), quotation)
    assert (verdict is None) == (found is None)
    if verdict and found:
        assert set(urls(verdict)) == {DAM.url, *found}
        assert not verdict.problem


WORDS = "dam lake char men 1931 1936 40 Orrin the of was built in 3.5% percent last month März 中 “ ” [2] —".split()
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), st.sampled_from(HOSTILE), st.text(max_size=40)
)
PAGES = st.lists(
    st.builds(
        Snippet,
        url=st.sampled_from(["https://a.org", "https://b.org/x", "corpus:n.md"]),
        title=TEXTS,
        text=TEXTS,
        published=st.sampled_from([None, "2023-03-10", "2023", "soon", ""]),
    ),
    max_size=5,
)
LANGUAGES = st.sampled_from(["en", "de", "zh", "ar", "th", "xx"])


@given(PAGES, st.lists(st.tuples(TEXTS, st.sets(st.integers(0, 4), max_size=3)), max_size=3), TEXTS, LANGUAGES)
def test_what_is_cited_was_shown_and_nothing_fails(
    pages: list[Snippet], written: list[tuple[str, set[int]]], quotation: str, language: str
) -> None:
    shown = passages(pages)
    screen = Screen(shown, known="Orrin Dam", embed=EMBED, language=language)
    claims = [Claim(text, tuple(i for i in cited if i < len(shown))) for text, cited in written]
    held = {citation for passage in shown for citation in passage.citations()}
    verdicts = screen.judge(claims)
    assert [verdict.sentence.text for verdict in verdicts] == [claim.text for claim in claims]
    again = Screen(shown, known="Orrin Dam", embed=EMBED, language=language)
    assert [again.judge([claim])[0] for claim in claims] == verdicts  # one by one
    for claim, verdict in zip(claims, verdicts, strict=True):
        assert set(verdict.sentence.citations) <= held
        assert len(set(verdict.sentence.citations)) == len(verdict.sentence.citations)
        assert verdict.sentence.citations or verdict.problem
        assert not (verdict.change and verdict.problem) or verdict.is_only_copied
        assert set(screen.passages_for_revision(claim, verdict)) <= set(range(len(shown))) | set(claim.cited)
        turned = screen.by_quotation(claim, quotation)
        assert turned is None or set(turned.sentence.citations) <= held


@pytest.mark.parametrize("sentence", ["The tower beside bridge {} is {} m high.", "Penguins waltz in {}, penguin {}."])
def test_work_grows_with_the_sentences_that_no_passage_supports(sentence: str) -> None:
    def work(size: int) -> int:
        shown = [Passage(f"The tower beside bridge {i} was painted in {i + 2000}.", (DAM,)) for i in range(size)]
        screen = Screen(shown, known="", embed=EMBED, limits=Limits(run=0))
        claims = [Claim(sentence.format(chr(1072 + i), i + 70_000), (i,)) for i in range(size)]
        screen.judge(claims[:1])
        return calls_of(lambda: screen.judge(claims)).total()

    assert work(32) < 8 * work(8)


@given(st.sampled_from(ALL), st.sets(st.integers(0, 3), max_size=3))
def test_a_passages_own_words_are_never_unsupported_by_it(own: Snippet, others: set[int]) -> None:
    cited = tuple(dict.fromkeys((ALL.index(own) + 1, *(i + 1 for i in others))))
    verdict = judged(own.text, *cited, limits=Limits(run=100))
    assert (verdict.change, verdict.problem) == ("", "")

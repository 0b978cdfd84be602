"""Judges of support: the screen, the language model, the judge that remembers, and the deciding words."""

from collections.abc import Sequence
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
from articles import article, section, sentence, source
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import BudgetSpentError, ModelError
from storm_pipeline.evidence.judges import spans
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.screen import ScreenJudge
from storm_pipeline.evidence.judges.spans import deciding, quoted, with_spans
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.types import Article, Citation

PASSAGE = "The Orrin Dam was built between 1931 and 1936. Selby took in 400 families who lost their farms."
EMBEDDER = HashingEmbedder()


@pytest.mark.parametrize(
    ("claim", "cited", "finding"),
    [
        ("The Orrin Dam was not built between 1931 and 1936.", PASSAGE, "on topic"),
        ("The Orrin Dam was built between 1931 and 1940.", PASSAGE, "digits not found"),
        ("Trout and carp live in the deep lake.", PASSAGE, "another source fits better"),
        ("Camels carried silk.", PASSAGE, "not found"),
        ("Der Staudamm wurde in den Jahren von 1931 bis 1936 an dem Fluss gebaut.", PASSAGE, "another language"),
    ],
)
def test_the_screen_calls_nothing_supported(claim: str, cited: str, finding: str) -> None:
    other = Question("Trout live in the lake.", ("Trout and carp live in the lake, which is deep.",))
    found, _ = ScreenJudge(EMBEDDER).judge([Question(claim, (cited,)), other])
    assert found.label == finding
    assert found.better == (other.passages[0] if finding == "another source fits better" else "")


_texts = st.one_of(
    st.sampled_from(["", "…", PASSAGE, "In 1931.", "ein Satz", "大坝建于1931年。"]), st.text(max_size=40)
)
_questions = st.builds(Question, _texts, st.lists(_texts, max_size=3).map(tuple))


@given(_questions)
def test_spans_resolve_to_words_of_the_passages(question: Question) -> None:
    found = [*deciding(question), *quoted(question, question.claim)]
    assert all(question.passages[span.passage][span.start : span.end].strip() for span in found)
    assert all(0 <= span.start < span.end for span in found)


DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."


def words_of(own: Article, citation: Citation) -> list[str]:
    (text,) = (one.text for found in own.sources for one in found.snippets if one.id == citation.snippet_id)
    return [text[start:end] for start, end in citation.spans]


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Two hundred people built the dam by 1926.", ["The dam was finished in 1926 by two hundred workers."]),
        ("The lake, in the hills, has trout.", ["Lake Orrin lies in the hills.", "Trout live in the lake."]),
        ("Nothing is said.", []),
    ],
)
def test_a_citation_says_which_words_carry_its_sentence(claim: str, words: list[str]) -> None:
    page = source("orrin", DAM)
    found = with_spans(article(section("Dam", sentence(claim, page)), sources=(page,)))
    (only,) = (citation for own in found.sentences() for citation in own.citations)
    assert words_of(found, only) == words


def test_passages_that_are_cited_in_turn_are_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []
    monkeypatch.setattr(spans, "split_sentences", lambda text, language: [split.append(text) or text])
    pages = [source(f"page{number}", f"In {number} a ship came into the harbour.") for number in range(20)]
    with_spans(article(section("Dam", *(sentence("A ship came.", page) for page in pages * 3)), sources=pages))
    assert len(split) == len(set(split)) == 20


def test_of_a_passage_as_long_as_a_book_the_beginning_is_embedded_and_all_is_searched() -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            embedded.extend(texts)
            return super().embed(texts)

    page = source("book", " ".join(f"In {number} a ship came into the harbour of Bergen." for number in range(20_000)))
    claims = [f"In {number} Camels carried silk." for number in range(100, 20_000, 500)]
    found = with_spans(article(section("Dam", *(sentence(claim, page) for claim in claims)), sources=(page,)))
    (passage,) = page.snippets
    ScreenJudge(Counting()).judge([Question(claim, (passage.text,)) for claim in claims])
    assert len(embedded) < 500
    words = [words_of(found, own.citations[0])[0].partition(" a ship")[0] for own in found.sentences()]
    assert words == [claim.partition(" Camels")[0] for claim in claims]


BUILT = "The Orrin Dam was built between 1931 and 1936."
TOWN = "Selby took in 400 families who lost their farms."
CHECK = Programs().check


class Scripted:
    """Replies in order; keeps the programs and inputs that it was asked."""

    def __init__(self, *replies: str) -> None:
        self.asked: list[tuple[Program, dict[str, Any]]] = []
        self._replies = iter(replies)

    def __call__(self, program: Program, _: object = None, /, **inputs: Any) -> SimpleNamespace:
        self.asked.append((program, inputs))
        reply = next(self._replies)
        return SimpleNamespace(verdicts=reply, text=reply)


def test_sentences_share_a_call_and_each_gets_its_line() -> None:
    model = Scripted(
        "1: supported\n2. **contradicted** — Selby took in 400, not 40 (“News | UK”) | “took in  400 families”\n"
        "Sentence 3) not - nothing of it"
    )
    judge = LanguageModelJudge(model, "one", CHECK)
    questions = [
        Question("The dam is from the 1930s.", (BUILT,)),
        Question("It took in 40.", (BUILT, TOWN)),
        Question("No.", (TOWN,)),
    ]
    built, took, nothing = judge.judge(questions)
    assert built == Verdict("supported", 1.0)
    assert (took.label, took.reason) == ("contradicted", "Selby took in 400, not 40 (“News | UK”)")
    assert [TOWN[span.start : span.end] for span in took.spans if span.passage == 1] == ["took in 400 families"]
    assert (nothing.label, nothing.reason, nothing.spans) == ("not", "nothing of it", ())
    ((_, inputs),) = model.asked
    assert inputs["passages"] == f"[1] {BUILT}\n[2] {TOWN}"
    assert inputs["check"].splitlines() == [
        "1. The dam is from the 1930s. [1]",
        "2. It took in 40. [1][2]",
        "3. No. [2]",
    ]
    assert judge.name == "model:one"


def test_what_a_reply_leaves_out_is_asked_again_once() -> None:
    questions = [Question("One.", (BUILT,)), Question("Two.", (BUILT,))]
    model = Scripted("2: partly", "1: not")
    assert [one.label for one in LanguageModelJudge(model, "one", CHECK).judge(questions)] == ["not", "partly"]
    assert model.asked[1][1]["check"] == "1. One. [1]"
    with pytest.raises(ModelError, match="no verdict on 2 sentences"):
        LanguageModelJudge(Scripted("I cannot.", "Still not."), "one", CHECK).judge(questions)


def test_without_words_nothing_is_asked() -> None:
    judge = LanguageModelJudge(Scripted(), "one", CHECK)
    questions = [Question("", (BUILT,)), Question("One.", ()), Question("One.", ("…",))]
    assert judge.judge(questions) == [Verdict("not", 0.0)] * 3
    assert judge.judge([]) == []


class SideBySide:
    """Supports two sentences once three calls wait; lets one of them run into a cap first, if told so."""

    def __init__(self, *, capped: bool = False) -> None:
        self._together, self._capped, self.asked = Barrier(3, timeout=60), capped, 0

    def __call__(self, *_: object, passages: str, **__: object) -> SimpleNamespace:
        self.asked += 1
        if self.asked <= 3:
            self._together.wait()
        if self._capped and "Passage 2" in passages:
            self._capped = False
            raise BudgetSpentError("all 9 tokens are spent")
        return SimpleNamespace(verdicts=f"1: not - {passages[4:13]}\n2: supported")


@pytest.mark.parametrize("capped", [False, True])
def test_long_passages_are_spread_over_calls_side_by_side_in_order(capped: bool) -> None:
    """What a cap stops is asked once more when the others, which reserve more than they cost, have ended."""
    questions = [Question(f"Claim {n}.", (f"Passage {n}. " + "word " * 2400,)) for n in range(6)]
    model = SideBySide(capped=capped)
    verdicts = LanguageModelJudge(model, "one", CHECK).judge(questions)
    assert [own.reason or own.label for own in verdicts] == [
        *("Passage 0", "supported", "Passage 2", "supported", "Passage 4", "supported")
    ]
    assert model.asked == 3 + capped

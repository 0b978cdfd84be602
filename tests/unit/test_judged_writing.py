"""What a run's judge doubts goes back to the writer or the editor; the article says how well it is supported."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from articles import cites, page_of
from contexts import Told, checked, run

from storm_pipeline.errors import ModelError, SettingsError
from storm_pipeline.evidence.judges.base import Label, Question, Span, Verdict
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.opening import judge_of_run
from storm_pipeline.evidence.judges.support import AlceVerdict, judge_alce, support_as_judged, support_of
from storm_pipeline.evidence.passages import Passage, passages
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.draft_checks import check_blocks
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.method.writers.editing import edit_article
from storm_pipeline.models.programs import Programs
from storm_pipeline.settings import Settings
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.types import Article, Paragraph, Section, Sentence, Snippet

DAM = Snippet("https://a.org/dam", "Orrin Dam", "The Orrin Dam was built between 1931 and 1936 by two thousand men.")
LAKE = Snippet("https://b.org/lake", "Orrin Lake", "Behind the Orrin Dam, built between 1931 and 1936, char live.")
PASSAGES = passages([DAM, LAKE])
SAID = "Two thousand men built the Orrin Dam between 1931 and 1936."
TURNED = "The Orrin Dam built two thousand men between 1931 and 1936."


class Scripted:
    """A judge by a function of the claim and the passages; keeps what it is asked."""

    name, threshold = "scripted", 0.5

    def __init__(self, script: Callable[[str, tuple[str, ...]], Label]) -> None:
        self.asked: list[Question] = []
        self._script = script

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        self.asked += questions
        labels = [self._script(one.claim, one.passages) for one in questions]
        return [
            Verdict(label, float(label == "supported"), (Span(len(one.passages) - 1, 0, 14),))
            for label, one in zip(labels, questions, strict=True)
        ]


def turned(claim: str, _: tuple[str, ...]) -> Label:
    return "contradicted" if claim == TURNED else "supported"


def review(draft: str, reply: str, judge: Any) -> tuple[list[Sentence], Told, list[str]]:
    return checked(PASSAGES, draft, reply, judge)


def test_a_doubted_sentence_goes_back_with_the_deciding_words_and_is_mended() -> None:
    judge = Scripted(turned)
    kept, told, (remarks,) = review(f"{TURNED} [1]", f"1: {SAID} [1]", judge)
    assert [one.text for one in kept] == [SAID]
    assert remarks == f"1. {TURNED}[1] — [1] say otherwise; the passage has “The Orrin Dam ”.".replace(" ”", "”")
    assert [(one.outcome, one.after) for one in told.revised()] == [("rewritten", SAID)]
    assert judge.asked[0] == Question(TURNED, (f"{DAM.text} (Orrin Dam, a.org)",))


def test_what_the_screen_hands_back_is_not_judged_before_it_is_mended() -> None:
    judge = Scripted(turned)
    wrong = SAID.replace("1936", "1947")
    kept, _, _ = review(f"{wrong} [1]", f"1: {SAID} [1]", judge)
    assert [one.text for one in kept] == [SAID]
    assert [one.claim for one in judge.asked] == [SAID]


def model_judge(ctx: RunContext) -> LanguageModelJudge:
    return LanguageModelJudge(partial(ctx.ask, "judge"), "one", ctx.programs.check)


def by_model(
    draft: str, snippets: Sequence[Snippet], verdicts: str, reply: str = "", second: str = "", shown: Any = ()
) -> tuple[list[Sentence], list[Mapping[str, Any]], list[str]]:
    """The sentences that stand where a language model judges a draft, its calls, and the remarks that were made."""
    asked: list[Mapping[str, Any]] = []
    remarks: list[str] = []

    def check(inputs: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(inputs)
        return {"verdicts": second or verdicts if len(asked) > 1 else verdicts}

    shown = shown or passages(snippets)
    with run(snippets, replies={"CheckSentences": check}) as (plain, _):
        ctx = replace(plain, judge=model_judge(plain))
        screen = Screen(shown, known="Orrin Dam", embed=ctx.store.embed)
        written = read_draft(draft, len(shown))
        kept = check_blocks(ctx, "a section", written, screen, lambda own, _: remarks.append(own) or reply)
    return [one for block in kept for one in block.sentences()], asked, remarks


def texts(sentences: Iterable[Sentence]) -> list[str]:
    return [one.text for one in sentences]


def history(*sentences: Sentence) -> tuple[Section]:
    return (Section("History", (Paragraph(sentences),)),)


def edited(
    sections: tuple[Section, ...], judge: Any, *passes: list[Edit], snippets: Sequence[Snippet] = (DAM, LAKE)
) -> list[str]:
    """The sentences after passes of edits, which the judge reads."""
    given = iter(passes)
    with run(snippets, {"EditArticle": lambda _: {"edits": next(given, [])}}) as (ctx, _):
        return texts(edit_article(replace(ctx, judge=judge), sections)[0].sentences())


@pytest.mark.parametrize(("verdict", "stands"), [("supported", True), ("contradicted - it was 1936", False)])
def test_a_language_model_decides_on_numbers_that_passages_do_not_have_in_this_form(verdict: str, stands: bool) -> None:
    said = "The Orrin Dam was finished in 1936, on 6/22/36."
    kept, (call,), remarks = by_model(f"{said} [1]", [DAM], f"1: {verdict}")
    assert texts(kept) == [said] * stands
    assert [remark.partition(";")[0] for remark in remarks] == [f"1. {said}[1] — it was 1936"] * (not stands)
    assert call["check"].endswith("[1] (do they say 6, 22, 36 in another form?)")


@pytest.mark.parametrize(("verdict", "cited"), [("supported", 2), ("supported [2]", 1), ("supported [1][2]", 2)])
def test_a_citation_stays_where_the_language_model_names_its_passage(verdict: str, cited: int) -> None:
    said = "The Orrin Dam was built between 1931 and 1936. [1][2]"
    ((kept,), _, _) = by_model(said, [DAM, LAKE], f"1: {verdict}")
    assert [own.source_id for own in kept.citations] == [DAM.source_id, LAKE.source_id][-cited:]


def test_of_a_joined_passage_the_piece_that_says_it_is_cited() -> None:
    both = (DAM, Snippet(DAM.url, DAM.title, "Behind it lies the Orrin Lake, where char live."))
    joined = Passage(" ".join(own.text for own in both), both)
    said = "Char live in the Orrin Lake. [1]"
    (kept,), (asked,), _ = by_model(said, both, "1: supported [2]", shown=[joined])
    assert [citation.snippet_id for citation in kept.citations] == [both[1].id]
    assert len(asked["passages"].splitlines()) == 2


@pytest.mark.parametrize(("verdicts", "cited"), [("1: supported [1]", [[DAM.id]]), ("", [])])  # then the screen decides
def test_a_language_model_reads_what_a_sentence_cites_however_unlike_its_words_are(verdicts: str, cited: Any) -> None:
    kept, _, _ = by_model("A reservoir was impounded. [1]", [DAM], verdicts)
    assert [[c.snippet_id for c in own.citations] for own in kept] == cited


class Silent(Scripted):
    """A judge that cannot be asked."""

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        raise ModelError("it is out")


def test_a_judge_that_cannot_be_asked_changes_nothing_and_is_recorded() -> None:
    kept, told, remarks = review(f"{SAID} [1]", "", Silent(turned))
    assert [one.text for one in kept] == [SAID]
    assert remarks == []
    assert any("judging History: it is out" in str(event) for event in told.events)


BUILT = "1: contradicted - men built it"
DATED = "The Orrin Dam was finished on 6/22/36."


@pytest.mark.parametrize(
    ("draft", "doubt", "reply", "second", "kept", "calls"),
    [
        (SAID, "1: not - no passage says so", f"{SAID} [1]", "", [], 1),
        (SAID, f"1: not - not in [0] or [{'9' * 5000}]", f"{SAID} [1]", "", [], 1),
        (SAID, "1: not - no passage says so", f"{SAID} [1][2]", "", [SAID], 1),
        (TURNED, BUILT, f"{SAID} [1]", "", [SAID], 1),
        (TURNED, BUILT, f"{TURNED} [1]", "", [], 1),
        (TURNED, BUILT, f"{TURNED} [1] | built between 1931 and 1936 by two thousand men", "", [TURNED], 1),
        (TURNED, BUILT, f"{DATED} [1]", "1: supported", [DATED], 2),
        (TURNED, BUILT, f"{DATED} [1]", "1: not - they say nothing of it", [], 2),
    ],
    ids=["as before", "odd numbers", "a further passage", "mended", "kept", "quoted", "other words", "others, doubted"],
)
def test_a_language_model_stands_by_its_doubt_unless_the_answer_proves_its_sentence(
    draft: str, doubt: str, reply: str, second: str, kept: list[str], calls: int
) -> None:
    found, asked, _ = by_model(f"{draft} [1]", [DAM, LAKE], doubt, f"1: {reply}", second)
    assert (texts(found), len(asked)) == (kept, calls)


def test_an_edit_that_goes_further_than_its_sentence_is_refused() -> None:
    sections = history(cites("The dam was a key factor of it.", DAM))
    edit = Edit(kind="reword", sentence=1, text="The dam was the key factor of it.")
    told_again: list[str] = []

    def reply(inputs: Mapping[str, Any]) -> dict[str, object]:
        told_again.append(inputs["remarks"])
        return {"edits": [edit]}

    judge = Scripted(lambda claim, _: "partly" if "the key" in claim else "supported")
    with run([DAM], {"EditArticle": reply}) as (ctx, _):
        assert edit_article(replace(ctx, judge=judge), sections) == sections
        assert edit_article(ctx, sections) != sections
    assert "goes further than what it cites" in told_again[1]
    assert judge.asked[-1].passages == (f"{DAM.text} (Orrin Dam, a.org)",)  # not the article's own sentence


def test_new_sentences_alone_are_judged_and_each_once_by_what_it_cites() -> None:
    one, two = cites("The dam was a key factor of it.", DAM), cites("Char live in the lake behind the dam.", LAKE)
    heading = Edit(kind="heading", sentence=1, text="History of the dam")
    new = ["The dam was a factor of it.", "Char live in the lake."]
    judge = Scripted(lambda *_: "supported")
    edits = [heading, *(Edit(kind="reword", sentence=n, text=text) for n, text in enumerate(new, 1))]
    assert edited(history(one, two), judge, edits) == new
    assert [(question.claim, question.before) for question in judge.asked] == [(new[0], ""), (new[1], one.text)]
    assert judge.asked[1].passages == (f"{LAKE.text} (Orrin Lake, b.org)",)


STORY = "The dam was built in 1936.", "Char live in the lake.", "It is 40 km long.", "Nobody swims there."
LONG = Edit(kind="reword", sentence=3, text="The lake is 40 km long.")


@pytest.mark.parametrize("kind", ["drop", "move", None])
def test_an_edit_is_not_judged_behind_a_sentence_that_another_edit_takes_away(kind: str | None) -> None:
    judge = Scripted(lambda *_: "supported")
    others = [Edit.model_validate({"kind": kind, "sentence": 2, "other": 4})] if kind else []
    edited(history(*(cites(text, DAM) for text in STORY)), judge, [LONG, *others])
    assert [question.before for question in judge.asked] == ["" if kind else STORY[1]]


@pytest.mark.parametrize("kind", ["cut", "reword", "join", "heading"])
def test_an_edit_of_a_sentence_that_is_not_there_ends_no_run(kind: Any) -> None:
    edits = [Edit(kind=kind, sentence=number, other=1, text="It is long.") for number in (-1, 0, 9, 10**18)]
    assert edited(history(*(cites(text, DAM) for text in STORY)), Scripted(turned), edits, edits) == list(STORY)


def test_each_part_of_a_split_sentence_is_judged_alone_and_keeps_what_the_judge_names() -> None:
    sections = history(cites("Men built the dam, and char live there.", DAM, LAKE))
    edit = Edit(kind="reword", sentence=1, text="Two thousand men built it. Char live there.")
    asked: list[Mapping[str, Any]] = []

    def check(inputs: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(inputs)
        return {"verdicts": "1: supported [1]\n2: supported [2]"}

    with run([DAM, LAKE], {"EditArticle": lambda _: {"edits": [edit]}, "CheckSentences": check}) as (plain, _):
        judge = model_judge(plain)
        (own,) = edit_article(replace(plain, judge=judge), sections)
    assert list(own.sentences()) == [cites("Two thousand men built it.", DAM), cites("Char live there.", LAKE)]
    assert asked[0]["check"].splitlines() == [
        "1. Two thousand men built it. [1][2]",
        "2. Char live there. [1][2] (after: “Two thousand men built it.”)",
    ]
    assert len(asked) == 1  # the same edit again changes nothing, and is not read again


def test_a_new_text_that_a_language_model_supports_is_not_compared_by_its_digits() -> None:
    sections = history(cites("Men built the dam in some years.", DAM))
    edit = Edit(kind="reword", sentence=1, text="Men built the dam in 2 years.")
    answers = {"EditArticle": lambda _: {"edits": [edit]}, "CheckSentences": lambda _: {"verdicts": "1: supported"}}
    with run([DAM], answers) as (ctx, _):
        judge = model_judge(ctx)
        assert edit_article(ctx, sections) == sections
        (own,) = edit_article(replace(ctx, judge=judge), sections)
        assert ctx.verdicts[edit.text].label == "supported"  # for the record of the article
    assert texts(own.sentences()) == [edit.text]


def article(*sentences: Sentence) -> Article:
    return Article("Orrin Dam", sections=history(*sentences), sources=(page_of(DAM), page_of(LAKE)))


def test_support_by_hand() -> None:
    judge = Scripted(lambda claim, told: "supported" if claim == SAID and DAM.text in "".join(told) else "not")
    written = article(cites(SAID, DAM, LAKE), cites("Char sing.", LAKE), cites("Nobody knows why."), cites("And", DAM))
    found = support_of(written, judge)
    assert (found.sentences, found.recall, found.recall_alone) == (4, 1 / 4, 1 / 4)
    assert found.precision == 1 / 4  # of four citations that of the dam alone
    assert found.precision_alone == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert dict(found.errors) == {"irrelevant source": 1, "no citation": 1, "wrongly split": 1}
    assert support_of(article(), judge).recall is None


def test_classes_of_unsupported_sentences() -> None:
    labels: dict[str, Label] = {
        "The dam is from 1940.": "not",
        "Char live there because men built it.": "partly",
        "Men were built.": "contradicted",
    }
    judge = Scripted(lambda claim, _: labels[claim])
    found = support_of(article(*(cites(text, DAM, LAKE) for text in labels)), judge)
    assert dict(found.errors) == {"inaccurate paraphrasing": 3}


def test_support_by_what_was_said_while_writing() -> None:
    known = {SAID: Verdict("supported", 1.0)}
    written = article(cites(SAID, DAM), cites("It is new.", DAM), cites("It has no source."))
    found = support_as_judged(written, Scripted(turned), known)
    assert (found.sentences, found.recall, found.unsettled) == (3, 1 / 2, 1)
    assert (found.precision, found.errors) == (None, (("no citation", 1),))


def test_alce_leaves_one_out() -> None:
    judge = Scripted(lambda _, told: "supported" if "a" in told[0] and "b" in told[0] else "not")
    (both, more, none) = judge_alce(judge, [Question("x", ("a", "b")), Question("x", ("a b", "c")), Question("x", ())])
    assert both == AlceVerdict(supported=True, cited=2, precise=2)
    assert more == AlceVerdict(supported=True, cited=2, precise=1)
    assert none == AlceVerdict(supported=False, cited=0, precise=0)


@pytest.mark.slow
def test_a_runs_judge_is_opened_by_its_setting(tmp_path: Any) -> None:
    def opened(**values: object) -> str | None:
        judge = judge_of_run(Settings.build(values), SimpleNamespace(ask=lambda *_: None), Programs())  # type: ignore[arg-type]
        return judge.name if judge else None

    assert opened() is None  # the model is the embedded one
    assert opened(lm="openai/x", judge="off") is opened(lm="openai/x", writing="sentences") is None
    assert opened(judge="model", reviewer_lm="openai/x") is None
    assert opened(lm="openai/x") == opened(judge="model", reviewer_lm="openai/x", writing="whole") == "model:openai/x"
    assert opened(judge="model", judge_lm="openai/y", writing="whole") == "model:openai/y"
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match="cannot be loaded"):
        opened(judge=str(tmp_path / "empty"))

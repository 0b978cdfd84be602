"""Drafts of capable writers: read, checked, handed back once; nothing is dropped in silence."""

import pytest
from contexts import Told, checked, run
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.passages import passages
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.method.writers.draft_checks import check_blocks
from storm_pipeline.method.writers.drafts import RemarkReply, read_draft, read_replies, without_prompt_lines
from storm_pipeline.run.events import Failed
from storm_pipeline.types import Sentence, Snippet

PASSAGES = passages(
    [
        Snippet("https://a.org/dam", "Orrin Dam", "The Orrin Dam was built between 1931 and 1936 by two thousand men."),
        Snippet("https://b.org/lake", "Orrin Lake", "Char live in the lake behind the Orrin Dam, which is 40 km long."),
    ]
)
GOOD = "Two thousand men built the Orrin Dam between 1931 and 1936 [1]."
WRONG = "Two thousand men built the Orrin Dam between 1931 and 1947 [1]."
STRAY = "Penguins dance in Antarctic moonlight [2]."


def review(draft: str, reply: str | ModelError, **settings: str) -> tuple[list[Sentence], Told, list[str]]:
    return checked(PASSAGES, draft, reply, **settings)


def test_headings_bullets_emphasis_and_markers_are_read() -> None:
    text = "Lead one [1]. Lead two [1, 2].\n\n## Early *history* ##\n- **Trade:** silk was sold [2].\n* Salt too [9].\n"
    draft = read_draft(text + "**Later years**\nIt ended\nin 1936. [1]\n[2]\n---\n```\n", 2)
    assert [block.heading for block in draft.blocks] == ["", "Early history", "Later years"]
    assert draft.claims() == [
        *(Claim("Lead one.", (0,)), Claim("Lead two.", (0, 1)), Claim("Trade: silk was sold.", (1,))),
        *(Claim("Salt too.", ()), Claim("It ended in 1936.", (0, 1))),
    ]
    assert (draft.invented, draft.broken_off) == (1, "")
    assert [len(block.paragraphs) for block in draft.blocks] == [1, 2, 1]


def test_a_star_within_a_name_is_no_emphasis() -> None:
    draft = read_draft("## *M*A*S*H* and M*A*S*H\nThe film *M*A*S*H*, like M*A*S*H and *Cheers*, won [1].", 1)
    assert draft.blocks[1].heading == "M*A*S*H and M*A*S*H"
    assert draft.claims() == [Claim("The film M*A*S*H, like M*A*S*H and Cheers, won.", (0,))]


@pytest.mark.parametrize("line", ["**The dam was built in 1936 [1].**", "**It was built.**", "## It was built [1]."])
def test_a_sentence_in_bold_type_is_no_heading(line: str) -> None:
    draft = read_draft(f"{line}\nIt stands [2].", 2)
    assert len(draft.claims()) == 2
    assert len(draft.blocks) == 1


def test_a_heading_of_very_many_stops_is_looked_at_once() -> None:
    line = f"**{'.' * 1_000_000}a**"  # looking behind each stop takes an hour
    assert without_prompt_lines(line, {"topic": line}) == line
    assert read_draft(line, 1).blocks[1].heading == "." * 1_000_000 + "a"


@given(st.text(max_size=80) | st.lists(st.sampled_from([*HOSTILE, GOOD, "## H", "- x [1]", "\n"])).map("\n".join))
def test_reading_never_fails_and_cites_only_what_was_shown(text: str) -> None:
    draft = read_draft(text, 2)
    assert all(0 <= position < 2 for claim in draft.claims() for position in claim.cited)
    assert all(claim.text.strip() for claim in draft.claims())
    assert all(paragraph for block in draft.blocks for paragraph in block.paragraphs)
    read_replies(text, 2)


DELETED = ("1: delete", "1. Delete.", "**1:** delete", "**1**: DELETE", "[1] delete", "[1]: delete", "(1) delete [2]")
DELETED += ("Remark 1: delete", "- 1: `delete`", "1 : delete", "1 – delete", "1:\ndelete", "1: Delete this sentence.")
DELETED += ("1: delete | none of them says it", "1: delete — no passage says this")
ANEW = ('1. It was built in 1936 [2]. | "built in 1936"', '**1**: It was built **in** 1936 [2].|"built in 1936"')
ANEW += ('[1] It was built in 1936 [2]. |  "built in 1936"', '1:\nIt was built in 1936 [2].\n | "built in 1936"')
ANEW += ('> 1) It was built in 1936 [2]. | "built in 1936"',)


@pytest.mark.parametrize("line", [*DELETED, *ANEW])
def test_a_reply_has_many_spellings(line: str) -> None:
    anew = RemarkReply(Claim("It was built in 1936.", (1,)), '"built in 1936"')
    found = read_replies(f"Here are my replies.\n\n{line}\n\nI hope this helps." if line in DELETED else line, 2)
    assert found == {1: RemarkReply(None) if line in DELETED else anew}


def test_what_only_looks_like_a_reply_is_none() -> None:
    text = "3.5 million people came.\n1936: the year of the dam.\n12 people died.\n10:30 was the hour."
    assert read_replies(text, 2) == {}
    assert read_replies("2: Removed from office in 1936, he left the valley [1].", 2)[2].claim


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [("1: delete", "deleted by the writer"), ("", "dropped"), (f"1: {STRAY}", "dropped"), ("7: hm", "dropped")],
)
def test_what_stays_without_support_is_dropped_and_recorded(reply: str, outcome: str) -> None:
    sentences, told, _ = review(STRAY, reply)
    assert not sentences
    assert [(it.before, it.outcome, it.after) for it in told.revised()] == [(STRAY.replace(" [2]", ""), outcome, "")]
    assert told.counted("dropped_unsupported") == 1


PLAIN = GOOD.replace(" [1]", "")
DATED = "1931 to 1936 were years of work on the Orrin Dam."
OTHER = {f"1: {DATED[:-1]} [1].": DATED, f'1: "{PLAIN}" [1]': f'"{PLAIN}"', f"1: {GOOD} {GOOD}": f"{PLAIN} {PLAIN}"}
"""Repairs that begin with a number, are quoted, or are two sentences."""


@pytest.mark.parametrize(
    "reply",
    [
        *(f"1: {PLAIN}\n[1]", f"1: {GOOD}\n[1]", f"1: [1] {PLAIN}", f"1: {GOOD.replace(' between', ' [1] between')}"),
        *(f"1: {GOOD.replace(' between', chr(10) + 'between')}", f"1: - {GOOD}", f"1. {GOOD}\n\n[2] is of the lake."),
        *(GOOD, f"- {GOOD}", f"{PLAIN} [1]", *OTHER),
    ],
)
def test_a_sentence_that_its_writer_repairs_is_not_lost(reply: str) -> None:
    (sentence,), told, _ = review(WRONG, reply)
    assert sentence.text == OTHER.get(reply, PLAIN)
    assert [citation.snippet_id for citation in sentence.citations] == [PASSAGES[0].snippets[0].id]
    assert [own.outcome for own in told.revised()] == ["rewritten"]


@pytest.mark.parametrize(
    "reply",
    [f"1: {GOOD}\n2: {GOOD}\n[2]", f"{GOOD}\n{GOOD}", f"1: {GOOD}\n2:\n{PLAIN}\n[1]", f"[1] {GOOD}\n[2] {GOOD}"],
)
def test_no_line_of_markers_takes_another_sentence_s_place(reply: str) -> None:
    sentences, _, (remarks,) = review(f"{WRONG} {STRAY}", reply)
    assert remarks.count("\n") == 1
    assert [own.text for own in sentences] == [PLAIN, PLAIN]


SECTION = f"{GOOD} Char live in the lake [2]. It is 40 km long [2]. Two thousand men built it [1]."


@pytest.mark.parametrize(
    "reply",
    [
        *(f"1: {SECTION}", f"1:\n{SECTION}", SECTION, f"## History\n{SECTION}", f"1: ## History\n{SECTION}"),
        f"## History\n\n{GOOD}\n\n## The lake\n\nChar live in the lake [2].",
        f"1. {WRONG.replace(' [1].', '.[1]')} — “1947” is not in [1].",
    ],
)
def test_a_whole_section_or_the_remark_itself_does_not_answer_it(reply: str) -> None:
    sentences, told, (remarks,) = review(WRONG, reply)
    assert not sentences
    assert [own.outcome for own in told.revised()] == ["dropped"]
    assert "“1947” is not in [1]" in remarks


def test_a_reply_without_markers_says_so() -> None:
    sentences, told, _ = review(PLAIN, "")
    assert len(sentences) == 1
    assert "no citation markers" in told.degraded()[0]
    sentences, told, _ = review(STRAY.replace(" [2]", ""), "")
    (failed,) = (event.detail for event in told.events if isinstance(event, Failed))
    assert not sentences
    assert failed == "History: the reply has no citation markers such as [1]; use another model with --lm"
    assert not any(isinstance(event, Failed) for event in review(STRAY, "")[1].events)


def test_a_reply_of_markers_or_a_quotation_alone_keeps_the_sentence() -> None:
    claim = "Fish of the salmon kind swim there"
    quotation = '| "Char live in the lake"'
    for reply in (f"1: [2] {quotation}", f"1: {quotation}"):
        (sentence,), told, _ = review(f"{claim} [2].", reply)
        assert sentence.citations
        assert [own.outcome for own in told.revised()] == ["kept"], reply
    _, told, _ = review(f"{claim} [2].", "1: [2]")
    assert [own.outcome for own in told.revised()] == ["dropped"]


def test_unchecked_sentences_stay_as_written_with_their_writers_citations() -> None:
    sentences, told, remarks = review(f"{WRONG} {STRAY} Nobody knows.", "1: delete", uncited="unchecked")
    assert [(own.text, [c.snippet_id for c in own.citations]) for own in sentences] == [
        (WRONG.replace(" [1]", ""), [PASSAGES[0].snippets[0].id]),
        (STRAY.replace(" [2]", ""), [PASSAGES[1].snippets[0].id]),
        ("Nobody knows.", []),
    ]
    assert (remarks, told.revised()) == ([], [])


def test_a_copied_sentence_stays_if_what_replaces_it_lacks_support() -> None:
    text = "and then the old men of the valley told the young men that the river would never again be free to run"
    shown = passages([Snippet("https://a.org", "Valley", f"It was said {text}.")])
    with run() as (ctx, told):
        screen = Screen(shown, known="Valley", embed=HashingEmbedder().embed)
        draft = read_draft(f"It was said {text} [1].", 1)
        (block,) = check_blocks(ctx, "X", draft, screen, lambda *_: "1: Penguins danced in 1812 [1].")
    assert [s.text for paragraph in block.paragraphs for s in paragraph.sentences] == [f"It was said {text}."]
    assert [own.outcome for own in told.revised()] == ["kept"]


LINES = st.sampled_from([GOOD, WRONG, STRAY, "No marker here.", "## Goods", "- Char live in the lake [2].", "Cut of"])
REPLIES = st.lists(
    st.builds(
        lambda n, separator, text: f"{n}{separator}{text}",
        st.integers(0, 6),
        st.sampled_from([": ", ". ", ") ", "** ", " "]),
        st.sampled_from([GOOD, WRONG, STRAY, "delete", "[deleted]", "", '| "x"', *HOSTILE]),
    ),
    max_size=6,
).map("\n".join)


@given(st.lists(LINES, max_size=6).map("\n".join), REPLIES, st.sampled_from(["drop", "keep"]))
def test_sentences_are_the_drafts_or_the_replys_and_none_goes_unrecorded(text: str, reply: str, uncited: str) -> None:
    draft = read_draft(text, len(PASSAGES))
    replies = {own.claim.text for own in read_replies(reply, len(PASSAGES)).values() if own.claim}
    replies |= {own.text for own in read_draft(reply, len(PASSAGES)).claims()}  # one without numbers
    sentences, told, _ = review(text, reply, uncited=uncited)
    written = [claim.text for claim in draft.claims()]
    kept = [own.text for own in sentences]
    assert set(kept) <= set(written) | replies
    recorded = [own.before for own in told.revised()]
    for claim in {*written, *([draft.broken_off] if draft.broken_off else [])}:
        lost = [*written, draft.broken_off].count(claim) - kept.count(claim)
        assert recorded.count(claim) >= lost
    known = {own.id for passage in PASSAGES for own in passage.snippets}
    assert {c.snippet_id for own in sentences for c in own.citations} <= known


def test_a_marker_behind_a_full_width_stop_ends_its_sentence_before_a_number() -> None:
    claims = read_draft("塔身则未受损坏。[3]1955年有77000名游客。[1]", 3, "zh").claims()
    assert [(claim.text, claim.cited) for claim in claims] == [
        ("塔身则未受损坏。", (2,)),
        ("1955年有77000名游客。", (0,)),
    ]

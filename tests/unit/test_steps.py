"""Pure parts of the steps: budgets, facts, support, evidence. Whole runs are in tests/integration/test_pipeline.py."""

from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.references.evidence import FactEvidence
from storm_pipeline.references.facts import Fact, facts_of, nearest, nearest_facts, numbered
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.references.support import check_support, has_names, numbers
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.settings import Settings
from storm_pipeline.steps.conversations import history
from storm_pipeline.steps.outline import share_budget
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Citation, Conversation, Heading, Outline, Perspective, Section, Sentence, Snippet, Turn
from storm_pipeline.writers import writer_for
from storm_pipeline.writers.fact_sharing import _share_out
from storm_pipeline.writers.opening_fact import opening_fact
from storm_pipeline.writers.section_headings import fitting_heading
from storm_pipeline.writers.section_loop import _with_distinct_headings

EMBED = HashingEmbedder().embed
WORDS = st.lists(
    st.sampled_from("alpha beta gamma delta road silk trade caravan 1402".split()), min_size=1, max_size=12
)
SENTENCES = WORDS.map(lambda words: " ".join(words).capitalize() + ".")
TURNS = st.builds(
    lambda q, a: Turn(q.rstrip(".") + "?", (), tuple(Sentence(s) for s in a)),
    SENTENCES,
    st.lists(SENTENCES, max_size=5),
)
CONVERSATIONS = st.lists(
    st.lists(TURNS, max_size=4).map(lambda t: Conversation(Perspective("Editor", "Focus."), tuple(t))), max_size=5
)


@given(CONVERSATIONS, st.integers(0, 200))
def test_the_budget_is_kept_and_no_sentence_cut(conversations: list[Conversation], words: int) -> None:
    shown = share_budget(conversations, words)
    told = [line.removeprefix("Writer: ").removeprefix("Expert: ") for line in shown.splitlines() if line]
    assert sum(word_count(line) for line in told) <= words
    whole = {t.question for c in conversations for t in c.turns}
    whole |= {s.text for c in conversations for t in c.turns for s in t.answer}
    whole |= {"No source was found for this question."}
    for line in told:
        assert all(sentence in whole for sentence in split_sentences(line)), line


@given(CONVERSATIONS)
def test_an_ample_budget_shows_everything(conversations: list[Conversation]) -> None:
    shown = share_budget(conversations, 10_000)
    for conversation in conversations:
        for turn in conversation.turns:
            assert turn.question in shown
            assert turn.answer_text in shown


def test_a_long_conversation_cannot_crowd_out_a_short_one() -> None:
    def talk(name: str, turns: int) -> Conversation:
        answer = (Sentence(f"{name} has a long story that goes on and on for many words."),) * 6
        return Conversation(
            Perspective(name, ""), tuple(Turn(f"What of {name} {i}?", (), answer) for i in range(turns))
        )

    shown = share_budget([talk("Long", 20), talk("Short", 1)], 200)
    assert shown.count("What of Short") == 1
    assert "Short has a long story" in shown


@given(st.lists(TURNS, min_size=1, max_size=6))
def test_history_grows_by_appending(turns: list[Turn]) -> None:
    for upto in range(len(turns)):
        assert history(turns[: upto + 1]).startswith(history(turns[:upto]))


SNIPPETS = st.lists(
    st.builds(
        lambda i, t, s: Snippet(f"https://x.org/{i}", t, " ".join(s)),
        st.integers(0, 5),
        st.text(max_size=20),
        st.lists(SENTENCES, min_size=1, max_size=4),
    ),
    max_size=6,
)


@given(SNIPPETS, st.text(max_size=40), st.integers(1, 6))
def test_nearest_facts_are_few_distinct_and_in_order(snippets: list[Snippet], need: str, limit: int) -> None:
    facts = nearest_facts(nearest(snippets, need, limit), need, limit)
    assert len(facts) <= limit
    assert len({fact.text.casefold() for fact in facts}) == len(facts)
    known = {(snippet.source_id, snippet.id) for snippet in snippets}
    assert all((fact.citation.source_id, fact.citation.snippet_id) in known for fact in facts)


def test_of_snippets_that_fit_equally_well_the_first_is_nearest() -> None:
    told = [[f"{chr(97 + n)}{chr(97 + m)}word" for m in range(8)] for n in range(12)]  # each word as rare as its peers
    rare = [Snippet(f"https://r.org/{n}-{m}", "", " ".join(w[: m + 1])) for n, w in enumerate(told) for m in range(7)]
    equal = [Snippet(f"https://x.org/{n}", "", " ".join(words)) for n, words in enumerate(told)]
    need = " ".join(word for words in told for word in words)
    for first in range(len(equal)):
        turned = equal[first:] + equal[:first]
        assert nearest([*rare, *turned], need, 1) == [turned[0]]


@given(SNIPPETS)
def test_a_fact_is_one_line_of_a_prompt(snippets: list[Snippet]) -> None:
    facts = nearest_facts(snippets, "silk road", 5)
    assert len(numbered(facts).split("\n")) == max(1, len(facts))


@given(st.text(min_size=1).filter(lambda text: text.strip() and word_count(text) < 5))
def test_what_is_too_short_for_a_sentence_still_gives_a_fact(text: str) -> None:
    assert facts_of(Snippet("https://x.org", "t", text))


def test_the_fact_that_answers_is_chosen() -> None:
    snippet = Snippet(
        "https://x.org",
        "Orrin Dam",
        "The dam is made of concrete and stone. About 400 families lost their farms to it. Char are eaten there.",
    )
    (fact,) = nearest_facts([snippet], "Which families lost farms?", 1)
    assert fact.text == "About 400 families lost their farms to it."


FACTS = facts_of(
    Snippet("https://a.org", "Orrin Dam", "The dam was built between 1931 and 1936 for electric power in the capital.")
) + facts_of(Snippet("https://b.org", "Char", "Char spawn in cold streams above the northern lake shore."))
DAM, CHAR = (fact.citation for fact in FACTS)


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        (Sentence("The dam, built between 1931 and 1936, gives the capital electric power.", (DAM,)), (DAM,)),
        (Sentence("The dam, built between 1931 and 1936, gives the capital electric power."), (DAM,)),  # attributed
        (Sentence("The dam, built between 1931 and 1936, gives the capital electric power.", (CHAR,)), (DAM,)),  # moved
        (
            Sentence("The dam, built between 1931 and 1950, gives the capital electric power.", (DAM,)),
            (),
        ),  # wrong number
        (Sentence("Kangaroos orchestrate quarterly symphonies underwater.", (DAM,)), ()),  # off topic
        (Sentence("Kangaroos orchestrate quarterly symphonies underwater."), ()),
        (
            Sentence("The dam that Copernicus built between 1931 and 1936 gives the capital electric power."),
            (),
        ),  # a name
    ],
)
def test_support(sentence: Sentence, kept: tuple[Citation, ...]) -> None:
    checked = check_support([sentence], FACTS, known="Lake Orrin", embed=EMBED)
    assert checked.sentences == (Sentence(sentence.text, kept),)
    assert checked.unsupported == (not kept)


@given(st.lists(SENTENCES.map(Sentence), max_size=5))
def test_support_keeps_every_sentence_in_place(sentences: list[Sentence]) -> None:
    checked = check_support(sentences, FACTS, known="", embed=EMBED)
    assert [s.text for s in checked.sentences] == [s.text for s in sentences]
    assert checked.unsupported == sum(not s.citations for s in checked.sentences)


def test_numbers() -> None:
    assert numbers("In 1,200 towns, 3.5 % of 12 people by 1999.") == {"1200", "3.5", "12", "1999"}


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("It lasted from the 14th century to the 17th century.", True),
        ("It covers the 15th and 16th centuries.", True),
        ("It lasted from the 14th century to the 16th century.", False),
        ("It lasted from the 14th to the 17th century.", True),
        ("It lasted 15–17 centuries.", False),
    ],
)
def test_a_range_must_be_the_sources_own(text: str, stands: bool) -> None:
    told = "The Renaissance lasted from the 14th century to the 17th century, or covers the 15th and 16th."
    fact = Fact(told, "Renaissance", Citation("s1", "t1"))
    sentence = Sentence(text, (fact.citation,))
    checked = check_support([sentence], [fact], known="Renaissance", embed=HashingEmbedder().embed)
    assert bool(checked.sentences[0].citations) is stands


MATRICES = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 12).flatmap(
        lambda columns: st.lists(
            st.lists(st.floats(-1, 1, width=32), min_size=columns, max_size=columns), min_size=rows, max_size=rows
        )
    )
)


@given(MATRICES, st.integers(1, 5))
def test_a_fact_is_shown_to_one_section_at_most(rows: list[list[float]], limit: int) -> None:
    fit = np.asarray(rows, dtype=np.float32)
    sources = [f"s{i % 4}" for i in range(fit.shape[1])]
    chosen = _share_out(fit, fit, limit, sources)
    most = max(2, round(limit / 3))
    assert all(sum(sources[i] == source for i in own) <= most for own in chosen for source in sources)
    flat = [i for own in chosen for i in own]
    assert len(flat) == len(set(flat))
    assert all(len(own) <= limit for own in chosen)
    for row, own in zip(fit, chosen, strict=True):
        assert list(row[own]) == sorted(row[own], reverse=True)


@given(MATRICES, st.lists(st.floats(0, 1, width=32), min_size=12, max_size=12))
def test_nearness_to_the_topic_makes_no_fact_fit_a_section(rows: list[list[float]], about: list[float]) -> None:
    fit = np.asarray(rows, dtype=np.float32)
    sources = [f"s{i}" for i in range(fit.shape[1])]
    indifferent, near = (
        _share_out(fit, fit + np.asarray(own[: fit.shape[1]], dtype=np.float32), fit.size, sources)
        for own in ([0.0] * 12, about)
    )
    assert {i for own in near for i in own} == {i for own in indifferent for i in own}


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("He died of tuberculosis in Norway.", True),
        ("Abel was a Danish physician.", False),
        ("The Norwegians remember him.", True),
        ("Like all Norwegians and Mathematicians, he was poor.", True),
        ("He was a Norwigean by birth.", False),  # a slip of the pen is no other form
        ("Abel (NTNU) is honoured.", True),
        ("In Oslo, The man was poor.", False),
        ("Danish he was.", True),  # what opens a sentence has a capital anyway
        ("It is a disease, And it kills.", True),
    ],
)
def test_a_sentence_may_only_name_what_its_source_names(text: str, has: bool) -> None:
    source = (
        "Niels Henrik Abel was a Norwegian mathematician. Norwegian technical natural university. NTNU honours him."
    )
    assert has_names(text, source) is has


class _Evidence:
    """As much of a run as the sharing out of evidence needs."""

    def __init__(self, pages: dict[str, str], *, by_sentence: bool) -> None:
        writing = "sentences" if by_sentence else "whole"
        self.settings = Settings.build({"writing": writing, "section_facts": 6})
        self.store = ReferenceStore(HashingEmbedder(512))
        self.store.add([Snippet(f"https://example.org/{title}", title, text) for title, text in pages.items()])

    def shared(self, topic: str, *titles: str) -> dict[str, list[str]]:
        outline = Outline(topic, tuple(Heading(title) for title in titles))
        with closing(self.store):
            found = writer_for(self.settings).gather(self, outline)  # type: ignore[arg-type]
        return {own.heading.title: [fact.text for fact in own.facts] for own in found.sections}


def test_a_passage_that_mentions_the_topic_in_passing_gives_no_facts() -> None:
    pages = {
        "Silk road": "Silk road trade brought silk and spices along the silk road. "
        "Trade on the silk road ended late in the century.",
        "Keats": "Keats wrote odes to autumn and nightingales. He loved Fanny Brawne of Hampstead deeply. "
        "His letters on poetry are admired by critics. A friend travelled the silk road for trade.",
    }
    facts = [text for own in _Evidence(pages, by_sentence=True).shared("Silk road", "Trade").values() for text in own]
    assert facts
    assert not any("friend" in text for text in facts)


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("Silk road caravans went west. The Silk Road (or Silk Route) was a network of roads.", "The Silk Road (or"),
        ("The Silk Road, also known as the Silk Route, was a network of roads.", "The Silk Road, also"),
        ("The camels of the silk road ate some barley. Silk road caravans are silk road trains.", "Silk road caravans"),
        ("It was the silk road of old times. The caravans of the silk road went to the west.", "The caravans"),
        ("The camels were fed on barley. The monks of the valley wrote many books.", ""),
    ],
)
def test_an_article_opens_with_what_its_topic_is(text: str, opening: str) -> None:
    evidence = _Evidence({"Silk road": text}, by_sentence=True)
    with closing(evidence.store):
        fact = opening_fact(evidence, "Silk Road")  # type: ignore[arg-type]
    assert fact.text.startswith(opening) if fact and opening else fact is None and not opening


def test_a_page_named_as_the_topic_opens_the_article_though_others_name_it_more_often() -> None:
    others = ("art", "food", "law")
    pages = {f"Silk Road {other}": f"Silk Road {other} is the {other} of the Silk Road." for other in others}
    own = "The Silk Road was a network of Eurasian trade routes, active from the second century to the fifteenth, long."
    evidence = _Evidence(pages | {"Silk Road (route)": f"{own} It passed deserts, wells, inns."}, by_sentence=True)
    with closing(evidence.store):
        fact = opening_fact(evidence, "Silk Road")  # type: ignore[arg-type]
    assert fact
    assert fact.text == own


class _Named(_Evidence):
    """As much of a run as another heading needs; the model tells the one given."""

    def __init__(self, told: str) -> None:
        super().__init__({}, by_sentence=True)
        self.programs = Programs()
        self._told = told

    def ask(self, role: str, program: Program, *, topic: str, sentences: str) -> SimpleNamespace:
        assert (role, program, topic) == ("writer", self.programs.heading, "Silk Road")
        assert "salt" in sentences
        return SimpleNamespace(heading=self._told)


@pytest.mark.parametrize(
    ("planned", "told", "heading"),
    [
        ("Legacy", "Salt wells", "Salt wells"),
        ("Legacy", '## "The salt wells of the Silk Road".', "Salt wells"),
        ("Salt and wells", "Salt", "Salt and wells"),  # the planned one fits well
        ("Legacy", "Silk Road", "Legacy"),
        ("Legacy", "Wells", "Legacy"),  # another section's
        ("Legacy", "References", "Legacy"),
        ("Legacy", "Music", "Legacy"),
        ("Legacy", "The sentences are about the wells of salt and about salt", "Legacy"),
        ("Legacy", "", "Legacy"),
    ],
)
def test_a_heading_that_says_nothing_of_its_section_gives_way(planned: str, told: str, heading: str) -> None:
    run = _Named(told)
    outline = Outline("Silk Road", (Heading(planned), Heading("Wells")))
    sentences = [Sentence("The salt wells gave salt."), Sentence("Of all wells the salt wells were deepest.")]
    with closing(run.store):
        assert fitting_heading(run, outline, outline.sections[0], sentences) == heading  # type: ignore[arg-type]


def test_two_sections_do_not_come_to_one_heading() -> None:
    planned = [FactEvidence(Heading(title), ()) for title in ("Legacy", "Camels", "Trade", "Law")]
    headings = _with_distinct_headings(planned, [Section("Wells"), None, Section("wells"), Section("Law")])
    assert [section.heading for section in headings] == ["Wells", "Trade", "Law"]


def test_what_defines_the_topic_is_left_to_the_lead_where_that_is_given_it() -> None:
    pages = {
        "Silk road": "The silk road was a silk road. Trade in goods and markets of goods grew on the silk road. "
        "Religion, monks and temples spread on the silk road.",
    }
    shared = _Evidence(pages, by_sentence=True).shared("Silk road", "Trade in goods", "Religion and monks")
    facts = [text for own in shared.values() for text in own]
    assert any("markets" in text for text in shared["Trade in goods"])
    assert any("monks" in text for text in shared["Religion and monks"])
    assert "The silk road was a silk road." not in facts

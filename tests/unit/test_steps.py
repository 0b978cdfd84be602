"""Pure parts of the steps: budgets, facts, headings. Whole runs are in tests/integration/test_pipeline.py."""

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.facts import facts_of, numbered
from storm_pipeline.method.steps.outline import share_budget
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Conversation, Perspective, Sentence, Snippet, Turn

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


def test_a_long_conversation_cannot_crowd_out_a_short_one() -> None:
    def talk(name: str, turns: int) -> Conversation:
        answer = (Sentence(f"{name} has a long story that goes on and on for many words."),) * 6
        return Conversation(
            Perspective(name, ""), tuple(Turn(f"What of {name} {i}?", (), answer) for i in range(turns))
        )

    shown = share_budget([talk("Long", 20), talk("Short", 1)], 200)
    assert shown.count("What of Short") == 1
    assert "Short has a long story" in shown


SNIPPETS = st.lists(
    st.builds(
        lambda i, t, s: Snippet(f"https://x.org/{i}", t, " ".join(s)),
        st.integers(0, 5),
        st.text(max_size=20),
        st.lists(SENTENCES, min_size=1, max_size=4),
    ),
    max_size=6,
)


@given(SNIPPETS)
def test_a_fact_is_one_line_of_a_prompt(snippets: list[Snippet]) -> None:
    facts = [fact for snippet in snippets for fact in facts_of(snippet)]
    assert len(numbered(facts).split("\n")) == max(1, len(facts))


@given(st.text(min_size=1).filter(lambda text: text.strip() and word_count(text) < 5))
def test_what_is_too_short_for_a_sentence_still_gives_a_fact(text: str) -> None:
    assert facts_of(Snippet("https://x.org", "t", text))

"""Outlines as models write them, and back; what steps show of conversations and facts."""

import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import snippets

from storm_pipeline.evidence.facts import facts_of, number_facts
from storm_pipeline.method.outlines import outline_from_headings, outline_to_markdown, parse_outline
from storm_pipeline.method.steps.outline import share_budget
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import word_count
from storm_pipeline.types import Conversation, Heading, Perspective, Sentence, Snippet, Turn


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Rome\n## History\n#### Kings\n### Republic\n## Impact", "# History|## Kings|## Republic|# Impact"),
        ("Sure! Here is it:\n\n# History\n## Early\n\nI hope this helps.", "# History|## Early"),
        ("```markdown\n# A town\n# B town\n```", "# A town|# B town"),
        ("1. History\n1.1 Early\n1.2. Late\n1.2.1 Sub\n2. Impact", "# History|## Early|## Late|### Sub|# Impact"),
        ("I. History\n A. Early\n B. Late\nII. Impact", "# History|## Early|## Late|# Impact"),
        ("1. **History**: what was\n   - Early\n   - Late life\n2. Impact", "# History|## Early|## Late life|# Impact"),
        ("**History**\n- Early\n- Late\n**Impact:**", "# History|## Early|## Late|# Impact"),
        ("- A town\n  - C town\n    - E town\n- G town", "# A town|## C town|### E town|# G town"),
        ("# Rome\n- History\n  - Early\n- Impact", "# History|## Early|# Impact"),
        ("# C# language\n## F#\n# #MeToo\n# Closed ##", "# C# language|## F#|# #MeToo|# Closed"),
        ("# History\n## Old\n# Impact\n# history\n## New\n## Old", "# History|## Old|## New|# Impact"),
        ("# A\n# Notes\n# Later\n# References\n## Books\n# B\n# See also:\n# External links", "# A|# Later|# B"),
        ("# Life\n## Further reading\n## Death\n## **Bibliography**", "# Life|## Death"),
        ("# Introduction\n## Background\n# History\n# Conclusion", "# Background|# History"),
        ("# Lead\n# Abstract\n# Summary\n# History\n## Summary", "# History|## Summary"),
        ("# 1. A [1]\n## 20 Years later\n## 2020 games\n# [B](http://x.y):", "# A|## 20 Years later|## 2020 games|# B"),
        ("# Outline of Rome\n## Kings\n## Empire", "# Kings|# Empire"),
        ("# History of Rome\n## Kings\n## Republic\n## Empire", "# Kings|# Republic|# Empire"),
        ("# J. R. R. Tolkien\n# A. A. Milne", "# J. R. R. Tolkien|# A. A. Milne"),
        ("# This part is about how it all went on.\n# " + "long " * 40 + "\n# History\n# ---", "# History"),
        ("# M*A*S*H\n# *M*A*S*H* and *Cheers*\n# The *Wire*", "# M*A*S*H|# M*A*S*H and Cheers|# The Wire"),
        ("# 历史\n## Начало", "# 历史|## Начало"),
        ("# Book\n## Contents\n## Style\n# Reception\n# Contents", "# Book|## Contents|## Style|# Reception"),
        ("", ""),
        ("Just prose, no heading at all.", ""),
    ],
)
def test_parse_outline(text: str, expected: str) -> None:
    assert outline_to_markdown(parse_outline(text, "Rome")).replace("\n", "|") == expected


TITLES = st.sampled_from(
    [
        *("History", "history", "Rome", "Early life", "Notes", "References", "See also", "Introduction", "Impact"),
        *("Lead", "1. Kings", "**Bold**", "C#", "#tag", "A long sentence that ends so.", "Notes:", "I. X"),
        *("- item", "Outline of Rome", "## deep", "[x](y)", "[1]", "`code`", "The Rome story", "中文"),
        *("Section 1: A", "**", "a # ##", "_x_", '"x"'),
    ]
)
LINE = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "  ", "    ", "\t"]),
    st.sampled_from(
        ["# ", "## ", "### ", "##### ", "#", "- ", "* ", "1. ", "1.1 ", "2) ", "A. ", "II. ", "**", "```", ""]
    ),
    st.one_of(TITLES, st.text(max_size=15)),
)
OUTLINES = st.one_of(st.lists(LINE, max_size=14).map("\n".join), st.text())
BACK = {"notes", "references", "see also", "external links", "further reading", "bibliography", "sources", "citations"}


def levels(headings: Sequence[Heading]) -> Iterator[Sequence[Heading]]:
    yield headings
    for heading in headings:
        yield from levels(heading.children)


@given(OUTLINES, st.sampled_from(["Rome", "", "C#", "x"]), st.integers(0, 6), st.integers(0, 8))
@settings(max_examples=3 * settings().max_examples)
def test_parsing_any_text(text: str, topic: str, depth: int, sections: int) -> None:
    outline = parse_outline(text, topic, max_depth=depth, max_sections=sections)
    again = parse_outline(outline_to_markdown(outline), topic, max_depth=depth, max_sections=sections)
    assert again == outline
    assert len(outline.sections) <= sections
    for siblings in levels(outline.sections):
        names = [heading.title.casefold() for heading in siblings]
        assert len(set(names)) == len(names)
        assert all(name and name not in BACK and "\n" not in name for name in names)
    depths = [len(line.split(" ")[0]) for line in outline_to_markdown(outline).splitlines()]
    assert not depths or depths[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(depths))


@given(st.lists(snippets, max_size=6))
def test_a_fact_is_one_line_of_a_prompt(found: list[Snippet]) -> None:
    facts = [fact for snippet in found for fact in facts_of(snippet)]
    assert len(number_facts(facts).split("\n")) == max(1, len(facts))


def test_headings_may_be_nested_without_end() -> None:
    marks = ("- ", "A. ", "1. ", *(f"1{'.1' * dots} " for dots in range(1, 18)))
    text = "\n".join(f"{' ' * indent}{mark}H{indent} M{n}" for indent in range(100) for n, mark in enumerate(marks))
    assert outline_to_markdown(parse_outline(text, "Rome", max_depth=6)).startswith("# H0 M0\n## H0 M1\n")
    assert len(outline_from_headings([(n, f"Heading {n}") for n in range(2000)], "Rome").sections) == 1


WORDS = st.lists(st.sampled_from("alpha beta gamma delta road silk trade camel 1402".split()), min_size=1, max_size=12)

SENTENCES = WORDS.map(lambda words: " ".join(words).capitalize() + ".")
ANSWERS = st.lists(SENTENCES.map(Sentence), max_size=5).map(tuple)
TURNS = st.lists(st.builds(Turn, SENTENCES.map(lambda text: text.replace(".", "?")), st.just(()), ANSWERS), max_size=4)
CONVERSATIONS = st.lists(
    st.builds(Conversation, st.just(Perspective("Editor", "Focus.")), TURNS.map(tuple)), max_size=5
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

"""Outlines as models write them, and back."""

import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.method.outlines import outline_from_headings, outline_to_markdown, parse_outline
from storm_pipeline.types import Heading


def lines(text: str, topic: str = "Rome", **limits: int) -> list[str]:
    return outline_to_markdown(parse_outline(text, topic, **limits)).splitlines()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# Rome\n## History\n#### Kings\n### Republic\n## Impact",
            ["# History", "## Kings", "## Republic", "# Impact"],
        ),
        ("Sure! Here is it:\n\n# History\n## Early\n\nI hope this helps.", ["# History", "## Early"]),
        ("```markdown\n# A town\n# B town\n```", ["# A town", "# B town"]),
        (
            "1. History\n1.1 Early\n1.2. Late\n1.2.1 Sub\n2. Impact",
            ["# History", "## Early", "## Late", "### Sub", "# Impact"],
        ),
        ("I. History\n A. Early\n B. Late\nII. Impact", ["# History", "## Early", "## Late", "# Impact"]),
        (
            "1. **History**: what was\n   - Early life\n   - Late life\n2. Impact",
            ["# History", "## Early life", "## Late life", "# Impact"],
        ),
        ("**History**\n- Early\n- Late\n**Impact:**", ["# History", "## Early", "## Late", "# Impact"]),
        ("- A town\n  - C town\n    - E town\n- G town", ["# A town", "## C town", "### E town", "# G town"]),
        ("# Rome\n- History\n  - Early\n- Impact", ["# History", "## Early", "# Impact"]),
        ("# C# language\n## F#\n# #MeToo\n# Closed ##", ["# C# language", "## F#", "# #MeToo", "# Closed"]),
        ("# History\n## Old\n# Impact\n# history\n## New\n## Old", ["# History", "## Old", "## New", "# Impact"]),
        (
            "# Life\n# Notes\n# Later life\n# References\n## Books\n# Impact\n# See also:\n# External links",
            ["# Life", "# Later life", "# Impact"],
        ),
        ("# Life\n## Further reading\n## Death\n## **Bibliography**", ["# Life", "## Death"]),
        ("# Introduction\n## Background\n# History\n# Conclusion", ["# Background", "# History"]),
        ("# Lead\n# Abstract\n# Summary\n# History\n## Summary", ["# History", "## Summary"]),
        (
            "# 1. History [1]\n## 20 Years later\n## 2020 games\n# [Impact](http://x.y):",
            ["# History", "## 20 Years later", "## 2020 games", "# Impact"],
        ),
        ("# Outline of Rome\n## Kings\n## Empire", ["# Kings", "# Empire"]),
        ("# History of Rome\n## Kings\n## Republic\n## Empire", ["# Kings", "# Republic", "# Empire"]),
        ("# J. R. R. Tolkien\n# A. A. Milne", ["# J. R. R. Tolkien", "# A. A. Milne"]),
        ("# This part is about how it all went on.\n# " + "long " * 40 + "\n# History\n# ---", ["# History"]),
        ("# M*A*S*H\n# *M*A*S*H* and *Cheers*\n# The *Wire*", ["# M*A*S*H", "# M*A*S*H and Cheers", "# The Wire"]),
        ("# 历史\n## Начало", ["# 历史", "## Начало"]),
        ("", []),
        ("Just prose, no heading at all.", []),
    ],
)
def test_parse_outline(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


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


@given(OUTLINES)
def test_levels_are_contiguous(text: str) -> None:
    depths = [len(line.split(" ")[0]) for line in lines(text)]
    assert not depths or depths[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(depths))


def test_a_lone_subheading_that_names_a_section_again_goes() -> None:
    text = "# Goods\n## Silk\n## Goods\n# Routes\n## Goods\n## Silk\n### Routes\n### Inns"
    outline = parse_outline(text, "Silk Road")
    assert outline_to_markdown(outline) == "# Goods\n## Silk\n# Routes\n## Silk\n### Inns"


def test_contents_below_a_section_are_those_of_a_book() -> None:
    outline = parse_outline("# Book\n## Contents\n## Style\n# Reception\n# Contents", "A Book of Hours")
    assert outline_to_markdown(outline) == "# Book\n## Contents\n## Style\n# Reception"


def test_headings_may_be_nested_without_end() -> None:
    marks = ("- ", "A. ", "1. ", *(f"1{'.1' * dots} " for dots in range(1, 18)))
    text = "\n".join(f"{' ' * indent}{mark}H{indent} M{n}" for indent in range(100) for n, mark in enumerate(marks))
    assert lines(text, max_depth=6)[:2] == ["# H0 M0", "## H0 M1"]
    assert len(outline_from_headings([(n, f"Heading {n}") for n in range(2000)], "Rome").sections) == 1

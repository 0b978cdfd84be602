"""Scripted replies of the benchmarks' language model and search engine: pure functions of the request.

Every reply carries a mark, a made-up word derived from the request, so that its use can be traced through prompts and
article, and equal requests get equal replies.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any

from storm_pipeline.signatures import answers, judging, outline, points, research, review, writing

Answer = Callable[[str, str], str]
TITLES = (
    "Origins", "Early development", "Groups affected", "Methods", "Regional differences", "Effects", "Criticism",
    "Finances", "Leadership", "Buildings", "Later changes", "Commemoration", "Research", "Legacy",
)  # fmt: skip
MARK = re.compile(r"\bmark[a-j]{6}\b")
_FACT = re.compile(r"^(?:Passages: )?\[(\d+)\] ([^:\n]*): (.+)$", re.M)
_SNIPPETS = 4
_WORDS_A_SENTENCE = 26
_ASPECTS = ("causes", "people", "numbers", "effects")  # what is asked of a section
_CHECK = "\nCheck:"
_OPENING = 60  # characters by which a prompt's instructions are known
_DOUBTED = 10  # one sentence of so many is doubted by a judge


def number_of(text: str) -> int:
    """Return a 48-bit hash of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def mark_of(request: str) -> str:
    """Return the mark of a request's reply."""
    return "mark" + f"{number_of(request) % 10**6:06d}".translate(str.maketrans("0123456789", "abcdefghij"))


def scripted_reply(system: str, user: str, mark: str) -> tuple[str, str]:
    """Return the kind and text of a reply of realistic length and format to a prompt of the pipeline."""
    if (name := _openings().get(system[:_OPENING])) is None:
        raise ValueError(f"the benchmark has no reply for this prompt: {system[:_OPENING]}")
    kind, answer = REPLIES[name]
    return kind, answer(user, mark)


def pages(query: str, mark: str, k: int, texts: Sequence[tuple[str, str]], words: int) -> list[dict[str, Any]]:
    """Return ``k`` pages for a query in You.com's format, four snippets each, unique to the query.

    ``texts``: title and text; each snippet starts with ``words`` words of one, besides a sentence about the query.
    """
    subject = " ".join(MARK.sub("", query).split())
    return [_page(subject, mark, texts, words, first) for first in range(0, k * _SNIPPETS, _SNIPPETS)]


def _page(subject: str, mark: str, texts: Sequence[tuple[str, str]], words: int, first: int) -> dict[str, Any]:
    snippets = []
    for position in range(first, first + _SNIPPETS):
        number = number_of(f"{subject} {mark} {position}")
        title, text = texts[number % len(texts)]
        tokens = text.split()
        opening = " ".join((tokens * (words // len(tokens) + 1))[:words]).rstrip(",;. ")
        aspect = TITLES[number % len(TITLES)].lower()
        towns = number % 900 + 100
        snippets.append(f"{opening}. The {aspect} of {subject}, as {mark} tells, concerned {towns} towns and {title}.")
    return {"url": f"https://site{number % 10**9}.example/{mark}", "title": title, "snippets": snippets}


def _editors(user: str, mark: str) -> str:
    focus = "Side {} of the topic, with its causes, its course and its effects."
    letters = "ABCDEFGHIJKLMNOPQRST"[: int(re.findall(r"^Number: (\d+)", user, re.M)[-1])]
    return json.dumps({"editors": [{"name": f"Editor {c} {mark}", "focus": focus.format(c)} for c in letters]})


def _related(_: str, mark: str) -> str:
    return json.dumps({"related_topics": [f"Related subject {c} {mark}" for c in "ABCDE"]})


def _topic(user: str) -> str:
    return str(re.findall(r"^Topic: (.+?)(?: \(what a search .+)?$", user, re.M)[-1])


def _question(user: str, mark: str) -> str:
    return f"How did {mark} shape the early development of {_topic(user)}, and who was most affected by it?"


def _questions(user: str, mark: str) -> str:
    number = int(re.findall(r"^Number: (\d+)", user, re.M)[-1])
    return json.dumps({"questions": [f"{_question(user, mark)[:-1]} in year {n}?" for n in range(number)]})


def _queries(user: str, mark: str) -> str:
    aspects = ("towns", "people", "records")
    return json.dumps({"queries": [f"{_topic(user)} {aspect} {mark}" for aspect in aspects]})


def _pages(user: str, _: str) -> str:
    """Return six pages, the first that are listed."""
    return json.dumps({"chosen": [int(number) for number in re.findall(r"^ ?(?:Pages: )?(\d+)\. ", user, re.M)][:6]})


def _points(user: str, mark: str) -> str:
    """Return the points for each section, and the findings in all of them, one after another."""
    outline, _, findings = user.partition("\nFindings:")
    sections = re.findall(r"^(?:Outline: )?(\d+)\. (.+)$", outline, re.M)
    numbers = [int(number) for number in re.findall(r"^ ?\[(\d+)\] ", findings.partition("\nPages:")[0], re.M)]
    points = [
        {
            "section": int(n),
            "points": [f"Which {one} of {title} of {_topic(user)} did {mark} leave?" for one in _ASPECTS],
            "findings": numbers[i :: len(sections)],
        }
        for i, (n, title) in enumerate(sections)
    ]
    nothing = dict.fromkeys(("same", "contradicting", "doubtful", "off_topic", "about_sources"), ())
    return json.dumps({"sections": points, **nothing})


def _point_answers(user: str, mark: str) -> str:
    """Return answers to all questions except the last, which gets queries."""
    asked = len(re.findall(r"^(?:Questions: )?\d+\. ", user.rpartition("\nQuestions:")[2].strip(), re.M))
    facts = _FACT.findall(user)
    sentences = [f"In {mark}, {_shuffled(text)} [{number}]." for number, _, text in facts * 2]
    texts = [" ".join(sentences[n % len(facts) :][:2]) for n in range(asked)]
    answers = [*texts[:-1], ""] if asked > 1 else texts
    queries = [" ".join([*_shuffled(text).split()[:4], mark]) for *_, text in facts[:2]]
    return json.dumps(
        {
            "answers": [
                {"point": n, "answer": text, "queries": [] if text else queries} for n, text in enumerate(answers, 1)
            ]
        }
    )


def _outline(user: str, mark: str) -> str:
    """As many sections as are wanted at most, and as there are titles."""
    below = ("Background of {} " + mark, "Course of {}")
    number = int(re.findall(r"^Wanted: \d+ to (\d+) sections", user, re.M)[-1])
    sections = [{"title": t, "subsections": [b.format(t.lower()) for b in below]} for t in TITLES[:number]]
    return json.dumps({"sections": sections})


def _from_facts(usual: int) -> Answer:
    """Return sentences of the facts in other words: the first of each, then the second, as many words as asked for."""

    def reply(user: str, mark: str) -> str:
        wanted = re.search(r"^Words:\s+(\d+)$", user, re.M)
        most = (int(wanted[1]) if wanted else usual) // _WORDS_A_SENTENCE
        facts = [[(number, part) for part in text.split(". ") if part] for number, _, text in _FACT.findall(user)]
        facts_in_turn = [one for rank in zip_longest(*facts) for one in rank if one]
        return " ".join(f"In {mark}, {_shuffled(text)} [{number}]." for number, text in facts_in_turn[:most])

    return reply


def _shuffled(text: str) -> str:
    words = text.rstrip(".").split()[:24]
    half = len(words) // 2
    return " ".join(w for pair in zip(words[half:], words[:half], strict=False) for w in pair)


def _deleted(user: str, _: str) -> str:
    """Return the deletion of every sentence with a remark."""
    listed = user.rpartition("Remarks:")[2]
    return "\n".join(f"{number}: delete" for number in re.findall(r"^\s?(\d+)\. ", listed, re.M))


def _lead(user: str, mark: str) -> str:
    topic = _topic(user)
    body = re.findall(r"\[(\d+)\] ([^\[\n]+)", user.rpartition("Article:")[2])
    most = int(re.findall(r"^Words:\s+(\d+)$", user, re.M)[-1]) // _WORDS_A_SENTENCE
    return " ".join(f"Of {topic}, says {mark}, {_shuffled(text)} [{number}]." for number, text in body[:most])


def _verdicts(user: str, _: str) -> str:
    """Return a judge's lines: it doubts one sentence in ten, by their words."""
    asked = re.findall(r"^ ?(\d+)\. (.+?)\](?: \(.+\))?$", user.partition(_CHECK)[2], re.M)  # and notes behind it
    labels = ["partly - it does not say so" if number_of(text) % _DOUBTED == 0 else "supported" for _, text in asked]
    return "\n".join(f"{number}: {label}" for (number, _), label in zip(asked, labels, strict=True))


def _places(user: str, _: str) -> str:
    """Return the findings in all sections, one after another."""
    outline, _, findings = user.rpartition("\nFindings:")
    sections = len(re.findall(r"^ ?(?:Outline: )?\d+\. ", outline, re.M)) or 1
    numbers = [int(number) for number in re.findall(r"^ ?\[(\d+)\] ", findings, re.M)]
    places = [{"section": i + 1, "findings": numbers[i::sections]} for i in range(sections)]
    return json.dumps({"places": places, "same": []})


def _edits(user: str, mark: str) -> str:
    """Return edits: some deletions of repetitions, a rewording that the checks refuse, and questions; once."""
    sentences = () if "\nRemarks:" in user else range(2, 14)
    kinds = {2: "reword"}
    edits = [{"kind": kinds.get(n, "cut"), "sentence": n, "other": 1, "text": f"says {mark}"} for n in sentences]
    lookups = [{"sentence": n, "question": f"What is {mark} {n} of {_topic(user)}?"} for n in sentences]
    return json.dumps({"lookups": lookups, "edits": edits})


def _from_memory(user: str, mark: str) -> str:
    """Return the sections of made-up sentences, as many words as asked for."""
    each = int(re.findall(r"^Words: (\d+)$", user, re.M)[-1]) // len(TITLES) // _WORDS_A_SENTENCE
    sentence = f"The {{}} of {_topic(user)} {' '.join(['as', mark, 'tells'] * 7)}."
    return "\n".join(f"## {title}\n{' '.join([sentence.format(title.lower())] * each)}" for title in TITLES)


def _plan(user: str, mark: str) -> str:
    points = [{"text": f"What {mark} says of it.", "passages": [int(n)]} for n, _, _ in _FACT.findall(user)[:4]]
    return json.dumps({"pattern": "parallel", "points": points})


REPLIES: dict[str, tuple[str, Answer]] = {
    "FindRelatedTopics": ("related topics", _related),
    "FindPerspectives": ("perspectives", _editors),
    "AskQuestion": ("question", _question),
    "AskPlainQuestion": ("question", _question),
    "AskQuestions": ("questions", _questions),
    "WriteQueries": ("queries", _queries),
    "AnswerFromPassages": ("answer", _from_facts(550)),
    "RefineOutline": ("outline", _outline),
    "DraftOutline": ("draft outline", _outline),
    "PlanOutline": ("outline", _outline),
    "WriteSection": ("section", _from_facts(300)),
    "WriteArticle": ("article", _from_facts(2000)),
    "WriteFromMemory": ("article", _from_memory),
    "OutlineText": ("plan", _plan),
    "AnswerQuestion": ("article", _from_facts(400)),
    "AnswerRemarks": ("remarks", _deleted),
    "WriteLead": ("lead", _lead),
    "PlaceFindings": ("placed findings", _places),
    "ChoosePages": ("pages", _pages),
    "ReadPage": ("notes of pages", _from_facts(300)),
    "FindPoints": ("points", _points),
    "AnswerPoints": ("answers to points", _point_answers),
    "CheckSentences": ("sentences", _verdicts),
    "EditArticle": ("editing", _edits),
}
"""Name of a signature → the kind of its replies, and how one is made from the inputs and a mark."""


@cache
def _openings() -> dict[str, str]:
    """Return how the instructions of each signature begin."""
    modules = (answers, judging, outline, points, research, review, writing)
    named = {name: value for module in modules for name, value in vars(module).items() if name in REPLIES}
    return {value.instructions[:_OPENING]: name for name, value in named.items()}

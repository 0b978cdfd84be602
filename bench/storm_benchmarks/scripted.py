"""Scripted replies of the benchmarks' language model and search engine: pure functions of the request.

Every reply carries a mark, a made-up word derived from the request, so that its use can be traced through prompts and
article, and equal requests get equal replies.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

TITLES = ("Origins", "Early development", "Groups affected", "Methods", "Regional differences", "Effects")
MARK = re.compile(r"\bmark[a-j]{6}\b")
_FACT = re.compile(r"^(?:Passages: )?\[(\d+)\] ([^:\n]*): (.+)$", re.M)
_SNIPPETS = 4
_WORDS_A_SENTENCE = 26
_ASPECTS = ("causes", "people", "numbers", "effects")  # what is asked of a section
_CHECK = "\nCheck:"
_DOUBTED = 10  # one sentence of so many is doubted by a judge


def number_of(text: str) -> int:
    """A 48-bit hash of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def mark_of(request: str) -> str:
    """The mark of a request's reply."""
    return "mark" + f"{number_of(request) % 10**6:06d}".translate(str.maketrans("0123456789", "abcdefghij"))


def scripted_reply(messages: Sequence[dict[str, str]], mark: str) -> tuple[str, str]:
    """Kind and text of a reply of realistic length and format to a prompt of the pipeline."""
    system, user = messages[0]["content"], messages[-1]["content"]
    for phrase, kind, answer in _ANSWERS:
        if phrase in system:
            return kind, answer(user, mark)
    raise ValueError(f"the benchmark has no reply for this prompt: {system[:80]}")


def pages(query: str, mark: str, k: int, texts: Sequence[tuple[str, str]], words: int) -> list[dict[str, Any]]:
    """``k`` pages for a query in You.com's format, four snippets each, unique to the query.

    Args:
        texts: title and text; each snippet starts with ``words`` words of one.
        words: words of text per snippet, besides a sentence about the query.
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


def _queries(user: str, mark: str) -> str:
    aspects = ("towns", "people", "records")
    return json.dumps({"queries": [f"{_topic(user)} {aspect} {mark}" for aspect in aspects]})


def _points(user: str, mark: str) -> str:
    """Points for each section, and nothing on the findings."""
    sections = re.findall(r"^(?:Outline: )?(\d+)\. (.+)$", user.partition("\nFindings:")[0], re.M)
    points = [
        {
            "section": int(n),
            "points": [f"Which {one} of {title} of {_topic(user)} did {mark} leave?" for one in _ASPECTS],
        }
        for n, title in sections
    ]
    nothing = dict.fromkeys(("same", "contradicting", "doubtful", "off_topic", "about_sources"), ())
    return json.dumps({"sections": points, **nothing})


def _point_answers(user: str, mark: str) -> str:
    """All questions are answered but the last."""
    asked = len(re.findall(r"^(?:Questions: )?\d+\. ", user.rpartition("\nQuestions:")[2].strip(), re.M))
    facts = _FACT.findall(user)
    told = [f"In {mark}, {_shuffled(facts[n % len(facts)][2])} [{facts[n % len(facts)][0]}]." for n in range(asked)]
    answers = [*told[:-1], ""] if asked > 1 else told
    return json.dumps({"answers": [{"point": n, "answer": text} for n, text in enumerate(answers, 1)]})


def _outline(_: str, mark: str) -> str:
    below = ("Background of {} " + mark, "Course of {}")
    sections = [{"title": t, "subsections": [b.format(t.lower()) for b in below]} for t in TITLES]
    return json.dumps({"sections": sections})


def _from_facts(sentences: int) -> Callable[[str, str], str]:
    """Sentences that paraphrase the facts they cite: the same words in another order; as many words as asked for."""

    def reply(user: str, mark: str) -> str:
        wanted = re.search(r"^Words:\s+(\d+)$", user, re.M)
        most = int(wanted[1]) // _WORDS_A_SENTENCE if wanted else sentences
        facts = _FACT.findall(user)[-most * 2 :]
        return " ".join(f"In {mark}, {_shuffled(text)} [{number}]." for number, _, text in facts[:most])

    return reply


def _shuffled(text: str) -> str:
    words = text.rstrip(".").split()[:24]
    half = len(words) // 2
    return " ".join(w for pair in zip(words[half:], words[:half], strict=False) for w in pair)


def _deleted(user: str, _: str) -> str:
    """Every sentence with a remark is deleted."""
    listed = user.rpartition("Remarks:")[2]
    return "\n".join(f"{number}: delete" for number in re.findall(r"^\s?(\d+)\. ", listed, re.M))


def _lead(user: str, mark: str) -> str:
    topic = _topic(user)
    body = re.findall(r"\[(\d+)\] ([^\[\n]+)", user.rpartition("Article:")[2])
    return " ".join(f"Of {topic}, says {mark}, {_shuffled(text)} [{number}]." for number, text in body[:5])


def _verdicts(user: str, _: str) -> str:
    """A judge's lines: it doubts one sentence in ten, by their words."""
    asked = re.findall(r"^ ?(\d+)\. (.+)\]$", user.partition(_CHECK)[2], re.M)
    labels = ["partly - it does not say so" if number_of(text) % _DOUBTED == 0 else "supported" for _, text in asked]
    return "\n".join(f"{number}: {label}" for (number, _), label in zip(asked, labels, strict=True))


def _places(user: str, _: str) -> str:
    """The findings in all sections, one after another."""
    outline, _, findings = user.rpartition("\nFindings:")
    sections = len(re.findall(r"^ ?(?:Outline: )?\d+\. ", outline, re.M)) or 1
    numbers = [int(number) for number in re.findall(r"^ ?\[(\d+)\] ", findings, re.M)]
    places = [{"section": i + 1, "findings": numbers[i::sections]} for i in range(sections)]
    return json.dumps({"places": places, "same": []})


def _edits(user: str, mark: str) -> str:
    """Some sentences cut as repetitions, which the checks refuse, and none once they did."""
    sentences = () if "\nRemarks:" in user else range(2, 8)
    edits = [{"kind": "cut", "sentence": n, "other": 1, "last": 0, "text": f"says {mark}"} for n in sentences]
    return json.dumps({"edits": edits})


def _reworded(user: str, _: str) -> str:
    return " ".join(reversed(user.rpartition("Sentence:")[2].strip(" .").split())) + "."


_ANSWERS: list[tuple[str, str, Callable[[str, str], str]]] = [
    ("closely related to the topic", "related topics", _related),
    ("group of editors", "perspectives", _editors),
    ("interview an expert", "question", _question),
    ("search-engine queries", "queries", _queries),
    ("answer an encyclopedia writer", "answer", _from_facts(4)),
    ("Improve the outline", "outline", _outline),
    ("Write the outline", "draft outline", _outline),
    ("Write one section", "section", _from_facts(8)),
    ("doubts about the sentences", "remarks", _deleted),
    ("Write the heading", "heading", lambda *_: "Further history"),
    ("Write the opening", "lead", _lead),
    ("are to be told in an article", "placed findings", _places),
    ("before it is written", "points", _points),
    ("numbered questions of somebody", "answers to points", _point_answers),
    ("Check sentences of an", "sentences", _verdicts),
    ("editor of an encyclopedia article. Its", "editing", _edits),
    ("numbered pair", "repetition", lambda *_: json.dumps({"repeated": [1]})),
    ("Say the same", "reworded", _reworded),
]

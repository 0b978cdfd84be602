"""What a language model and a search engine of the benchmarks reply: pure functions of what they are asked.

Every reply carries a mark, a made-up word that follows from the request alone, so that what came from where can be
read off the prompts and the article, and the same request is answered with the same words.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

TITLES = ("Origins", "Early development", "Groups affected", "Methods", "Regional differences", "Effects")
MARK = re.compile(r"\bmark[a-j]{6}\b")
_FACT = re.compile(r"^\[(\d+)\] ([^:\n]*): (.+)$", re.M)
_SNIPPETS = 4


def number_of(text: str) -> int:
    """A number that follows from the text: 48 bits of its hash."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def mark_of(request: str) -> str:
    """The word that the reply to a request carries."""
    return "mark" + f"{number_of(request) % 10**6:06d}".translate(str.maketrans("0123456789", "abcdefghij"))


def answered(messages: Sequence[dict[str, str]], mark: str) -> tuple[str, str]:
    """Kind and text of a reply of realistic length and form to each of the pipeline's prompts."""
    system, user = messages[0]["content"], messages[-1]["content"]
    for told, kind, answer in _ANSWERS:
        if told in system:
            return kind, answer(user, mark)
    raise ValueError(f"the benchmark has no reply for this prompt: {system[:80]}")


def pages(query: str, mark: str, k: int, texts: Sequence[tuple[str, str]], words: int) -> list[dict[str, Any]]:
    """``k`` pages for a query, in You.com's form: four snippets each, all of them the query's own.

    Args:
        query: what was searched for.
        mark: carried by every snippet.
        k: pages.
        texts: title and text; the snippets open with about ``words`` words of them.
        words: of text in a snippet, beside a sentence about the query.
    """
    subject = " ".join(MARK.sub("", query).split())
    return [_page(subject, mark, texts, words, first) for first in range(0, k * _SNIPPETS, _SNIPPETS)]


def _page(subject: str, mark: str, texts: Sequence[tuple[str, str]], words: int, first: int) -> dict[str, Any]:
    snippets = []
    for position in range(first, first + _SNIPPETS):
        number = number_of(f"{subject} {mark} {position}")
        title, text = texts[number % len(texts)]
        told = text.split()
        opening = " ".join((told * (words // len(told) + 1))[:words]).rstrip(",;. ")
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
    return str(re.findall(r"^Topic: (.+)", user, re.M)[-1])


def _question(user: str, mark: str) -> str:
    return f"How did {mark} shape the early development of {_topic(user)}, and who was most affected by it?"


def _queries(user: str, mark: str) -> str:
    aspects = ("towns", "people", "records")
    return json.dumps({"queries": [f"{_topic(user)} {aspect} {mark}" for aspect in aspects]})


def _outline(_: str, mark: str) -> str:
    below = ("Background of {} " + mark, "Course of {}")
    sections = [{"title": t, "subsections": [b.format(t.lower()) for b in below]} for t in TITLES]
    return json.dumps({"sections": sections})


def _from_facts(sentences: int) -> Callable[[str, str], str]:
    """Sentences in other words than the facts that they cite: the same content words in another order."""

    def told(user: str, mark: str) -> str:
        facts = _FACT.findall(user)[-sentences * 2 :]
        return " ".join(f"In {mark}, {_mixed(text)} [{number}]." for number, _, text in facts[:sentences])

    return told


def _mixed(text: str) -> str:
    words = text.rstrip(".").split()[:24]
    half = len(words) // 2
    return " ".join(w for pair in zip(words[half:], words[:half], strict=False) for w in pair)


def _mending(answer: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """A writer that deletes what is handed back to it."""

    def answered(user: str, mark: str) -> str:
        _, remarks, told = user.rpartition("Remarks:")
        if not remarks:
            return answer(user, mark)
        return "\n".join(f"{number}: delete" for number in re.findall(r"^\s?(\d+)\. ", told, re.M))

    return answered


def _lead(user: str, mark: str) -> str:
    topic = _topic(user)
    body = re.findall(r"\[(\d+)\] ([^\[\n]+)", user.rpartition("Article:")[2])
    return " ".join(f"Of {topic}, says {mark}, {_mixed(text)} [{number}]." for number, text in body[:5])


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
    ("Write one section", "section", _mending(_from_facts(8))),
    ("Write the heading", "heading", lambda *_: "Further history"),
    ("Write the opening", "lead", _mending(_lead)),
    ("are to be told in an article", "placed findings", lambda *_: json.dumps({"places": []})),
    ("research has gone on since", "revised section", _mending(_from_facts(8))),
    ("copy editor", "editing", lambda *_: json.dumps({"edits": []})),
    ("numbered pair", "repetition", lambda *_: json.dumps({"repeated": [1]})),
    ("Say the same", "reworded", _reworded),
]

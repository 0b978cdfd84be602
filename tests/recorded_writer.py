"""A capable writer's replies to one run, written by hand once, given again by what is asked rather than by its number.

A change of the pipeline changes what is asked. So a reply is found by the question, the heading or the perspective that
it answers, and the numbers in it are those that the same passages, or sentences, have in the prompt of today: a passage
is known again by hashes of its words. A reply that nothing fits any more is empty for remarks, and an error else.

    python tests/recorded_writer.py REQUESTS FILE      # NNNN.req.txt and NNNN.rep.txt of a run → the record
"""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm import SIGNATURES, Asked, FakeModel, completion
from servers import Reply, Request

_NUMBER = re.compile(r"\[(\d+)\]")
_PASSAGE = re.compile(r"^(?:(?:Passages|Findings): )?\[(\d+)\] (.+)$", re.M)
_SENTENCE = re.compile(r"\[(\d+)\] ([^\[\n]+)")
_NUMBERED_SENTENCE = re.compile(r"\((\d+)\) ([^\[\n#]+)\[\d+\]")
_CITED = re.compile(r"([^\[\]\n#]+)((?:\[\d+\])+)")
_KEPT = 24
"""Hashes that tell a passage: of five words in a row each, spread over its text."""
_LEAST = 0.3
"""Share of them that a passage of today must have to be the same."""

_NUMBERED = ("sentence", "other", "last")
"""What of an edit is the number of a sentence."""


def _of_sentences(reply: str) -> list[dict[str, Any]]:
    """The edits of a reply but for those of headings, which other headings than today's were meant by."""
    return [edit for edit in json.loads(reply)["edits"] if edit["kind"] != "heading"]


def hashes(text: str) -> list[str]:
    """Hashes of every five words in a row; of a shorter text one of all its words."""
    words = re.findall(r"\w+", text.casefold())
    grams = [" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))]
    return [hashlib.sha256(gram.encode()).hexdigest()[:8] for gram in grams]


def numbered(user: str) -> dict[int, list[str]]:
    """The number of each passage, or sentence of an article, in a prompt → hashes of its text."""
    article = user.rpartition("Article:")[2] if "Passages:" not in user and "Article:" in user else ""
    found = _SENTENCE.findall(article) if article else _PASSAGE.findall(user)
    return {int(number): hashes(text) for number, text in found}


def key_of(signature: str, user: str) -> str:
    """What a request is about, so that it is known again in another prompt."""
    for name in ("Question", "Section", "Perspective"):
        if found := re.search(rf"^{name}:\s+(.+)", user, re.M):
            turn = f", turn {user.count('Writer: ') + 1}" if name == "Perspective" else ""
            return f"{signature}: {found[1]}{turn}" + (", remarks" if "\nRemarks:" in user else "")
    return signature + (", remarks" if "\nRemarks:" in user else "")


def recorded(folder: Path) -> dict[str, Any]:
    """Key → reply and what its numbers stood for, of a folder of requests and replies."""
    record = {}
    for path in sorted(folder.glob("*.req.txt")):
        text = path.read_text(encoding="utf-8").partition("\n===== parameters:")[0]
        system, *_, user = re.split(r"^===== \w+ =====\n", text, flags=re.M)[1:]
        reply = path.with_name(path.name.replace(".req.", ".rep.")).read_text(encoding="utf-8").strip()
        name = next(n for n, cls in SIGNATURES.items() if system.startswith(cls.instructions[:60]))
        items = numbered(user)
        used = {int(n) for n in _NUMBER.findall(reply)}
        if name == "EditArticle":
            used = {edit.get(name, 0) for edit in _of_sentences(reply) for name in _NUMBERED}
        if name == "PlaceFindings":
            used = {number for place in json.loads(reply)["places"] for number in place["findings"]}
        kept = {n: own[:: max(1, len(own) // _KEPT)][:_KEPT] for n, own in items.items() if n in used}
        found = {"reply": reply, "numbers": {str(n): own for n, own in kept.items()}}
        record[key_of(name, user)] = _both(record[name], found) if name == "PlaceFindings" and name in record else found
    return record


def _both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two replies on where findings belong as one; numbers of the second are counted on from those of the first."""
    past = max(map(int, first["numbers"]), default=0)
    places = [
        *json.loads(first["reply"])["places"],
        *({**own, "findings": [past + n for n in own["findings"]]} for own in json.loads(second["reply"])["places"]),
    ]
    numbers = {**first["numbers"], **{str(past + int(n)): own for n, own in second["numbers"].items()}}
    return {"reply": json.dumps({"places": places}), "numbers": numbers}


class RecordedWriter(FakeModel):
    """Gives the replies of a record.

    Args:
        record: as :func:`recorded` made it.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        super().__init__()
        self._record = record

    def _reply(self, request: Request) -> Reply:
        messages = tuple((m["role"], m["content"]) for m in request.json["messages"])
        user = messages[-1][1]
        name = next(n for n, cls in SIGNATURES.items() if messages[0][1].startswith(cls.instructions))
        with self._lock:
            self.asked.append(Asked(name, messages, request.json))
        return Reply(body=completion(replied(self._record, name, user)))


def replied(record: Mapping[str, Any], signature: str, user: str) -> str:
    """The recorded reply to a request, with the numbers of its prompt."""
    found = record.get(key_of(signature, user))
    if found is None:
        return "0: none" if "\nRemarks:" in user else f"no reply was recorded to {key_of(signature, user)}"
    today = _as_today(found["numbers"], numbered(user))
    if signature == "EditArticle" and "\nRemarks:" in user:
        return json.dumps({"edits": []})
    if signature == "EditArticle":
        edits = _of_sentences(found["reply"])
        moved = [{**e, **{name: today.get(e.get(name, 0), 0) for name in _NUMBERED}} for e in edits]
        return json.dumps({"edits": [e for e in moved if e["sentence"]]})
    if signature == "PlaceFindings":
        places = json.loads(found["reply"])["places"]
        return json.dumps(
            {"places": [{**p, "findings": [today[n] for n in p["findings"] if n in today]} for p in places]}
        )
    if signature == "ReviseSection":
        return _revised(found["reply"], user, today)
    return _renumbered(found["reply"], today)


def _renumbered(reply: str, today: Mapping[int, int]) -> str:
    return _NUMBER.sub(lambda n: f"[{today[int(n[1])]}]" if int(n[1]) in today else "", reply)


def _revised(reply: str, user: str, today: Mapping[int, int]) -> str:
    """A recorded section as changes to the one that stands: what it tells besides, and what it tells no more."""
    stands = {tuple(hashes(text)): int(number) for number, text in _NUMBERED_SENTENCE.findall(user)}
    lines, at, kept = [], 0, set()
    for line in reply.splitlines():
        if line.startswith("#"):
            at = len(stands)
        for text, marks in _CITED.findall(line):
            number = stands.get(tuple(hashes(text)))
            if number is None:
                lines.append(f"after {at}: {text.strip()} {_renumbered(marks, today)}")
            else:
                at = number
                kept.add(number)
    return "\n".join([*lines, *(f"{number}: delete" for number in sorted(set(stands.values()) - kept))])


def _as_today(then: Mapping[str, list[str]], now: Mapping[int, list[str]]) -> dict[int, int]:
    """A number of the record → the number that the same text has now; those that are gone are left out."""
    known = {number: set(own) for number, own in now.items()}
    fits = {n: {m: len(own & set(then[n])) / len(then[n]) for m, own in known.items()} for n in then}
    best = {n: max(own, key=lambda m, own=own: own[m]) for n, own in fits.items() if own}
    return {int(n): m for n, m in best.items() if fits[n][m] >= _LEAST}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(recorded(Path(sys.argv[1])), indent=0, ensure_ascii=False) + "\n")

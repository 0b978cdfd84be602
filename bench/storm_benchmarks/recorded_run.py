"""A run that was answered by hand: its replies and searches, given again by their place in another checkout's run.

A change of the pipeline changes prompts, so a reply is found by what it is for: the n-th of a stage for the same
question, interviewer or heading. The numbers in it become those that the same passages and sentences have today.
"""

import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dspy import lm15

from storm_benchmarks.scripted import kind_of
from storm_pipeline import Snippet
from storm_pipeline.api import LexicalIndex, fingerprint
from storm_pipeline.configuration.renamed import hashed_name
from storm_pipeline.run.journal import current_place

_PASSAGE = re.compile(r"^(?:(?:Passages|Findings): )?\[(\d+)\] (.+)$", re.M)
_SENTENCE = re.compile(r"\[(\d+)\] ([^\[\n]+)")
_STANDING = re.compile(r"\((\d+)\) ([^\[\n#]+)((?:\[\d+\])+)")
_HEADING = re.compile(r"\[H(\d+)\] (.+)")
_REMARK = re.compile(r"^(\d+)\. (.+?)(?:\[\d+\])* — (.+)$", re.M)
_CITING = re.compile(r"[^\[\]\n#]+(?:\[\d+\])+(?:[,;][^\[\]\n#]+(?:\[\d+\])+)*")
_LINE = re.compile(r"^(after )?(\d+): ?(.*)")
_MARK = re.compile(r"\[(\d+)\]")
_SAME = 0.6  # minimum share of a recorded passage's word 5-grams in the passage of today that is the same
_OF_SEARCHES = (
    *("source_language", "region", "since", "until", "domains", "without_domains", "read_pages", "source_policy"),
    *("allow_sources", "deny_sources", "exclude_urls", "exclude_titles"),
)
"""Settings that a search is recorded under."""
NOTHING = {
    "related topics": '{"related_topics": []}',
    "question": "Thank you so much for your help!",
    "queries": '{"queries": []}',
    "answer": "The passages do not say.",
    "placed findings": '{"places": []}',
    "open questions": '{"questions": []}',
    "editing": '{"edits": []}',
}
"""Stage → the reply where none was recorded; "none" for all others."""


class Recording:
    """The replies of a run by place; and, as a search engine, what its searches found.

    Args:
        folder: ``requests/NNNN.req.txt`` and ``NNNN.rep.txt``, and ``run/``, the folder of the run.

    Attributes:
        places: place → last message of the prompt, and reply, in order.
        unasked: replies whose prompt is missing, which cannot be given.
        unknown: queries of searches that were not made then.
    """

    def __init__(self, folder: Path) -> None:
        run = folder / "run"
        self.settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
        self.begun = json.loads((run / "run.json").read_text(encoding="utf-8"))
        self.name: str = self.begun["engine"]
        self.places: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.unasked = []
        self.unknown: list[str] = []
        for path in sorted(folder.glob("requests/*.rep.txt")):
            prompt = path.with_name(path.name.replace(".rep.", ".req."))
            if not prompt.exists():
                self.unasked.append(path.name)
                continue
            text = prompt.read_text(encoding="utf-8").partition("\n===== parameters:")[0]
            system, *_, user = re.split(r"^===== \w+ =====\n", text, flags=re.M)[1:]
            reply = path.read_text(encoding="utf-8").strip()
            known = self.places[place_of(kind_of(system), user)]
            known += [(user, reply)] if (user, reply) not in known else []  # asked again when the run was resumed
        lines = map(json.loads, (run / "journal.jsonl").read_text(encoding="utf-8").splitlines())
        kept = {line["key"]: line["value"]["snippets"] for line in lines if line["kind"] == "search"}
        self._found = {key: tuple(map(_snippet, own)) for key, own in kept.items()}
        self._snippets = list(dict.fromkeys(snippet for own in self._found.values() for snippet in own))
        self._index = LexicalIndex([[(one.title, 1), (one.text, 1)] for one in self._snippets], floor=0.0)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """What the same search found then, or else three times ``k`` of all snippets of the run, the best ones."""
        first = {hashed_name(name): name for name in _OF_SEARCHES}
        settings = {own: self.settings.get(own, self.settings.get(name)) for own, name in first.items()}
        found = self._found.get(fingerprint(current_place(), [self.name, settings], query, k))
        if found is None:
            self.unknown.append(query)
            best = zip(self._index.search(query), range(3 * k), strict=False)
            found = tuple(self._snippets[match.position] for match, _ in best)
        return found


class RecordedWriter:
    """An engine of ``dspy.LM`` that gives the replies of a recording. Thread-safe.

    Attributes:
        seen: ``passages`` (stage, number, words) of each prompt that shows some; ``remarks`` (place, sentence, remark);
            ``refused`` edits; ``unrecorded`` places without a reply; ``lost`` sentences, which are left out of a reply
            since a passage that they cite is shown no more: place, sentence, passage; ``answers`` that were given.
    """

    def __init__(self, recording: Recording) -> None:
        self._places = recording.places
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.seen: dict[str, list[Any]] = defaultdict(list)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The reply to a prompt."""
        system = request.system if isinstance(request.system, str) else "".join(p.text for p in request.system or ())
        with self._lock:
            reply = self._reply(kind_of(system), str(request.messages[-1].text))
        message = lm15.Message.assistant([lm15.TextPart(reply)])
        return lm15.Response(id=None, model="recorded", message=message, finish_reason="stop", usage=lm15.Usage())

    def _reply(self, kind: str, user: str) -> str:
        place = place_of(kind, user)
        shown, _, remarks = user.partition("\nRemarks:")
        now = _numbered(kind, shown)
        if "\nPassages:" in shown and not remarks:
            self.seen["passages"].append([kind, len(now), sum(len(text.split()) for text in now.values())])
        self.seen["remarks"] += [[place, text, why] for _, text, why in _REMARK.findall(remarks)]
        self.seen["refused"] += re.findall(r"^- (.+)$", remarks, re.M) if kind == "editing" else []
        self._asked[place] += 1
        if self._asked[place] > len(self._places[place]):
            self.seen["unrecorded"].append(place)
            return NOTHING.get(kind, "0: none" if remarks else "none")
        before, reply = self._places[place][self._asked[place] - 1]
        then = _numbered(kind, before.partition("\nRemarks:")[0])
        used = {n: then[n] for n in map(int, re.findall(r"\d+", reply)) if n in then}
        today = _standing(before, user) | _as_today(used, now)
        if kind in ("editing", "placed findings"):
            return _edits(json.loads(reply), today, _same(_HEADING, before, user))
        for sentence in _CITING.findall(reply):
            gone = {n for n in map(int, _MARK.findall(sentence)) if n in then and n not in today}
            self.seen["lost"] += [[place, _MARK.sub("", sentence).strip(" ."), then[n]] for n in sorted(gone)]
            reply = reply.replace(sentence, "", 1) if gone else reply
        reply = re.sub(r"^[ .]+", "", reply, flags=re.M)
        reply = _MARK.sub(lambda mark: f"[{today.get(int(mark[1]), 999)}]", reply)
        if kind == "answer":
            told = [_MARK.sub("", sentence).strip(" .") for sentence in _CITING.findall(reply)]
            self.seen["answers"].append([place, told])
        if not remarks and kind != "revised section":
            return reply
        return _lines(reply, _same(_REMARK if remarks else _STANDING, before, user) | {0: 0})


def _snippet(recorded: Mapping[str, Any]) -> Snippet:
    return Snippet(**{name: recorded[name] for name in ("url", "title", "text", "published", "author", "site")})


def place_of(kind: str, user: str) -> str:
    """What a prompt is for: its stage, and the question, heading or interviewer."""
    found = (re.search(rf"^{name}:\s+(.+)", user, re.M) for name in ("Question", "Section", "Perspective"))
    return f"{kind}: {next((one[1] for one in found if one), '')}" + (", remarks" if "\nRemarks:" in user else "")


def grams(text: str) -> frozenset[str]:
    """Every five words in a row; of a shorter text all its words as one."""
    words = re.findall(r"\w+", text.casefold())
    return frozenset(" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4)))


def _numbered(kind: str, user: str) -> dict[int, str]:
    """Number → text of the passages, findings or sentences that a prompt shows."""
    article = re.split(r"\n(?:Watched|Contradictions):", user.partition("Article:")[2])[0]
    found = _SENTENCE.findall(article) if kind in ("editing", "lead") else _PASSAGE.findall(user)
    return {int(number): text for number, text in found}


def _as_today(then: Mapping[int, str], now: Mapping[int, str]) -> dict[int, int]:
    """A number of the record → the number of the same text today; those of texts that are gone are left out."""
    today = {number: grams(text) for number, text in now.items()}
    moved = {}
    for number, own in ((number, grams(text)) for number, text in then.items()):
        shares = {other: len(own & held) / len(own) for other, held in today.items()}
        best = max(shares, key=shares.__getitem__, default=0)
        if shares.get(best, 0.0) >= _SAME:
            moved[number] = best
    return moved


def _same(pattern: re.Pattern[str], before: str, user: str) -> dict[int, int]:
    """A number of the record → the number that the very same text has today."""
    now = {" ".join(found[1].split()): int(found[0]) for found in pattern.findall(user)}
    then = ((int(found[0]), " ".join(found[1].split())) for found in pattern.findall(before))
    return {number: now[text] for number, text in then if text in now}


def _standing(before: str, user: str) -> dict[int, int]:
    """A number that a sentence of a written section has in the record → the one that it has today."""
    now = {text: _MARK.findall(marks) for _, text, marks in _STANDING.findall(user)}
    then = ((_MARK.findall(marks), now.get(text, [])) for _, text, marks in _STANDING.findall(before))
    return {int(a): int(b) for old, new in then if len(old) == len(new) for a, b in zip(old, new, strict=True)}


def _edits(reply: dict[str, Any], today: Mapping[int, int], headings: Mapping[int, int]) -> str:
    """Edits, or places of findings, with the numbers of today, without those of what is gone."""
    for place in reply.get("places", ()):
        place["findings"] = [today[number] for number in place["findings"] if number in today]
    made: list[dict[str, Any]] = []
    for edit in reply.get("edits", ()):
        known = {0: 0, **(headings if edit["kind"] == "heading" else today)}
        numbers = {name: known.get(edit[name]) for name in ("sentence", "other", "last")}
        made += [edit | numbers] if None not in numbers.values() else []
    return json.dumps(reply | ({"edits": made} if "edits" in reply else {}))


def _lines(reply: str, numbers: Mapping[int, int]) -> str:
    """A reply of lines that name remarks, or sentences of a section, with the numbers of today."""
    kept: list[str] = []
    for line in reply.splitlines():
        found = _LINE.match(line)
        if not found:
            kept.append(line)
        elif int(found[2]) in numbers:
            kept.append(f"{found[1] or ''}{numbers[int(found[2])]}: {found[3]}")
    return "\n".join(kept) or "none"

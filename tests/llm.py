"""A language model for tests: a local server that speaks the OpenAI wire format and answers by what it is asked."""

import inspect
import itertools
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import dspy
from servers import Reply, Request, ScriptedServer

from storm_pipeline.signatures import answers, judging, outline, research, review, writing
from storm_pipeline.signatures import points as of_points


def signatures_of(*modules: ModuleType) -> dict[str, type[dspy.Signature]]:
    """Name → signature, of those that some modules define."""
    members = (cls for module in modules for _, cls in inspect.getmembers(module, inspect.isclass))
    return {cls.__name__: cls for cls in members if issubclass(cls, dspy.Signature)}


SIGNATURES = signatures_of(research, outline, of_points, writing, review, answers, judging)
FACT = re.compile(r"^(?:Passages: )?\[(\d+)\] ([^:\n]*): (.+)$", re.M)

Answer = Callable[[str], str] | str


@dataclass(frozen=True)
class Asked:
    """One request: the signature that asked, the messages, and the whole body."""

    signature: str
    messages: tuple[tuple[str, str], ...]
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        return "".join(f"<{role}>{content}" for role, content in self.messages)

    @property
    def user(self) -> str:
        return self.messages[-1][1]


def completion(text: str, *, usage: bool = True) -> dict[str, Any]:
    """A reply as OpenAI's servers form it; every word counts as a token."""
    counted = {"prompt_tokens": 100, "completion_tokens": len(text.split()), "total_tokens": 100 + len(text.split())}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
    } | ({"usage": counted | {"prompt_tokens_details": {"cached_tokens": 40}}} if usage else {})


def _plan(user: str) -> str:
    """A point for each of the first three passages, the first of which names them all."""
    numbers = [int(number) for number, _, _ in FACT.findall(user)][:3]
    points = [{"text": f"What passage {n} says.", "passages": [n] if i else numbers} for i, n in enumerate(numbers)]
    return json.dumps({"pattern": "cause-effect", "points": points})


def from_facts(user: str, most: int = 4) -> str:
    """Cited sentences that say what the facts say, in another order of words; each section takes others of them."""
    facts, place, told = FACT.findall(user)[-50:], 0, list[str]()
    if section := re.search(r"^Section:\s+(.+)", user, re.M):
        place = [*re.findall(r"^# (.+)$", user, re.M), section[1]].index(section[1])
        first = place * most % max(1, len(facts))
        facts = facts[first:] + facts[:first]
    for number, title, text in facts[:most]:
        about = re.sub(r" [(].*[)]$", "", title)  # without site and date
        sentences = re.split(r"(?<=\.)\s", text)
        words = sentences[place % len(sentences)].rstrip(".").split()
        half = len(words) // 2
        mixed = [w for pair in itertools.zip_longest(words[half:], words[:half]) for w in pair if w]
        told.append(f"About {about}, {' '.join(mixed)} [{number}].")
    return " ".join(told)


def _editors(user: str) -> str:
    number = int(re.findall(r"Number: (\d+)", user)[-1])
    return json.dumps({"editors": [{"name": f"Editor {i}", "focus": f"Side {i} of it."} for i in range(number)]})


def topic_of(user: str) -> str:
    """The topic of a prompt, without what a first search found."""
    return re.findall(r"Topic: (.+?)(?: \(what a search .+)?$", user, re.M)[-1]


def _question() -> Callable[[str], str]:
    count = itertools.count(1)
    return lambda user: f"What is known about aspect {next(count)} of {topic_of(user)}?"


def _questions(user: str) -> str:
    topic = topic_of(user)
    return json.dumps({"questions": [f"What is known about aspect {i} of {topic}?" for i in range(9)]})


def points(**said: Any) -> str:
    """A reply to FindPoints that says this, and nothing else."""
    names = ("sections", "same", "contradicting", "doubtful", "off_topic", "about_sources")
    return json.dumps({name: said.get(name, []) for name in names})


def point_a_section(user: str) -> str:
    """A reply to FindPoints with a point for each section."""
    topic, outline = topic_of(user), user.partition("Outline:")[2].partition("\nFindings:")[0]
    sections = re.findall(r"^\s*(\d+)\. (.+)$", outline, re.M)
    return points(sections=[{"section": int(n), "points": [f"What of {title} of {topic}?"]} for n, title in sections])


def point_answers(*told: str) -> str:
    """A reply to AnswerPoints: the answer to each question."""
    return json.dumps({"answers": [{"point": n, "answer": text} for n, text in enumerate(told, 1)]})


def _outline(**sections: list[str]) -> str:
    return json.dumps({"sections": [{"title": title, "subsections": below} for title, below in sections.items()]})


def _lead(user: str) -> str:
    """Three sentences of the body, each in another order of words, that cite it."""
    topic = topic_of(user)
    body = re.findall(r"\[(\d+)\] ([^\[\n]+)", user.rsplit("Article:", maxsplit=1)[-1])[:3]
    return " ".join(f"Of {topic}: {' '.join(reversed(text.strip(' .').split()))} [{number}]." for number, text in body)


def deleting(user: str) -> str:
    """A writer that deletes every sentence with a remark."""
    remarks = re.findall(r"^\s?(\d+)\. ", user.rsplit("Remarks:", maxsplit=1)[-1], re.M)
    return "\n".join(f"{number}: delete" for number in remarks)


def checking(user: str) -> str:
    """A judge that finds every sentence supported but those with a number that their passages lack."""

    def verdict(text: str) -> str:
        unfound = re.search(r"\(do they say (.+) in another form\?\)$", text)
        return f"not - they do not say {unfound[1]}" if unfound else "supported"

    asked = re.findall(r"^ ?(\d+)\. (.+)$", user.partition("\nCheck:")[2], re.M)
    return "\n".join(f"{number}: {verdict(text)}" for number, text in asked)


def default_answers() -> dict[str, Answer]:
    """A model that does all that it is asked."""
    return {
        "FindRelatedTopics": json.dumps({"related_topics": ["Caravan", "Spice trade"]}),
        "FindPerspectives": _editors,
        "AskQuestion": _question(),
        "WriteQueries": lambda user: json.dumps({"queries": [re.findall(r"Question: (.+)", user)[-1]]}),
        "AnswerFromPassages": from_facts,
        "DraftOutline": _outline(History=[], Goods=[], Routes=[]),
        "RefineOutline": _outline(History=["Early history"], Goods=[], Routes=[], Legacy=[]),
        "AskQuestions": _questions,
        "PlanOutline": _outline(History=[], Goods=[], Routes=[]),
        "WriteArticle": lambda user: f"{from_facts(user, 2)}\n## History\n{from_facts(user, 6)}",
        "WriteFromMemory": "It was a road.\n## History\nIt was built long ago.\n## Goods\nSilk was sold there.",
        "WriteSection": lambda user: from_facts(user, 6),
        "AnswerRemarks": deleting,
        "WriteLead": _lead,
        "CheckSentences": checking,
        "EditArticle": json.dumps({"edits": []}),
        "ChoosePages": json.dumps({"chosen": []}),
        "ReadPage": from_facts,
        "FindPoints": points(),
        "AnswerPoints": point_answers(),
        "PlaceFindings": json.dumps({"places": [], "same": []}),
        "OutlineText": _plan,
        "AnswerQuestion": lambda user: from_facts(user, 6),
    }


class FakeModel:
    """Serves ``/v1/chat/completions``.

    Args:
        answers: a reply, or a function of the last user message, for each signature; others are the default ones.
        faults: replies given instead of the first answers to a signature, in order.
        more: signatures of other packages that it knows.
        other: the answer to prompts of no signature, such as an optimiser's own.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer] | None = None,
        faults: Mapping[str, list[Reply]] | None = None,
        more: Mapping[str, type[dspy.Signature]] | None = None,
        other: Answer | None = None,
    ):
        self._other = other
        self._signatures = SIGNATURES | dict(more or {})
        self._answers = default_answers() | dict(answers or {})
        self._answers.setdefault("AskPlainQuestion", self._answers["AskQuestion"])
        self._faults = {name: list(replies) for name, replies in (faults or {}).items()}
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self._server = ScriptedServer(self._reply)

    @property
    def url(self) -> str:
        return f"{self._server.url}/v1"

    @property
    def lm(self) -> str:
        return f"openai/fake@{self.url}"

    def __enter__(self) -> "FakeModel":
        self._server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(*error)

    def of(self, signature: str) -> list[Asked]:
        """What was asked by one signature, in order."""
        return [asked for asked in self.asked if asked.signature == signature]

    def _reply(self, request: Request) -> Reply:
        body = request.json
        messages = tuple((m["role"], m["content"]) for m in body["messages"])
        system = messages[0][1]
        known = (n for n, cls in self._signatures.items() if system.startswith(cls.instructions))
        name = next(known, "other") if self._other else next(known)
        with self._lock:
            self.asked.append(Asked(name, messages, body))
            if self._faults.get(name):
                return self._faults[name].pop(0)
        answer = self._other if name == "other" and self._other else self._answers[name]  # outside the lock: may wait
        return Reply(body=completion(answer if isinstance(answer, str) else answer(messages[-1][1])))

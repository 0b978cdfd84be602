"""Whole runs with a server that sends each reply in another form: the article is that of plain replies."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from llm import SIGNATURES, FakeModel, completion, topic_of
from reply_forms import FORMS
from servers import Reply, Request
from test_pipeline import folder, storm

from storm_pipeline import Article
from storm_pipeline.run.events import CallbackSink, Degraded, Event, Retried

SETTINGS: dict[str, Any] = {"turns": 5, "seed": 1, "workers": 1, "call_attempts": 1, "lm_timeout": 30}
ANSWERS = {"AskQuestion": lambda user: f"What is known about aspect {crc32(user.encode())} of {topic_of(user)}?"}


class FormModel(FakeModel):
    """Sends its replies to programs of each kind in forms, in turn."""

    def __init__(self, forms: Sequence[str]) -> None:
        super().__init__(ANSWERS)
        self.used: set[tuple[str, str]] = set()
        self._forms = {kind: itertools.cycle([f for f in forms if kind in FORMS[f].of]) for kind in ("json", "text")}

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(request)
        signature = SIGNATURES[self.asked[-1].signature]
        (field, *_), plain = list(signature.output_fields), reply.body["choices"][0]["message"]["content"]
        kind = "json" if plain.startswith("{") else "text"
        name = next(self._forms[kind], None)
        if name is None:
            return reply
        sent = FORMS[name].wrap(plain, field)
        self.used.add((kind, name))
        if kind == "json" and not all(own in str(sent) for own in signature.output_fields):
            return reply  # the form has room for one field alone
        message = {"role": "assistant", **(sent if not isinstance(sent, str) else {"content": sent})}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Reply(body=completion(plain) | {"choices": [choice]})


def written(server: FakeModel, place: Path, **changes: Any) -> tuple[Article, list[Event]]:
    events: list[Event] = []
    writer = storm(server, place, sinks=[CallbackSink(events.append)], **(SETTINGS | changes))
    return writer.write("Silk Road"), events


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    with FormModel([]) as server:
        article, _ = written(server, tmp_path_factory.mktemp("plain"))
    assert len(article.sections) == 4
    assert not article.report.problems
    return article.to_markdown()


BATCHES = 4


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_article_is_that_of_plain_replies(batch: int, plain: str, tmp_path: Path) -> None:
    forms = list(FORMS)[batch::BATCHES]
    with FormModel(forms) as server:
        article, events = written(server, tmp_path)
        assert server.used == {(kind, name) for name in forms for kind in FORMS[name].of}
    assert not [event.reason for event in events if isinstance(event, Retried)]
    assert not article.report.problems
    assert article.to_markdown() == plain


class CutModel(FakeModel):
    """Ends every answer at the limit of tokens."""

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(request)
        if self.asked[-1].signature == "AnswerFromPassages":
            reply.body["choices"][0]["finish_reason"] = "length"
        return reply


def test_replies_that_end_at_their_limit_are_reported_with_the_setting_to_raise(tmp_path: Path) -> None:
    with CutModel(ANSWERS) as server:
        article, events = written(server, tmp_path, reply_tokens=500, turns=2)
        often = len(server.of("AnswerFromPassages"))
    (problem,) = article.report.problems
    assert problem.detail == (
        "a reply to AnswerFromPassages was cut off at its limit of tokens (openai/fake): "
        f"raise --reply-tokens (now 500) ({often} times)"
    )
    assert len([event for event in events if isinstance(event, Degraded)]) == often
    with CutModel(ANSWERS) as server:
        given = SETTINGS | {"reply_tokens": 500, "turns": 2}
        resumed = storm(server, tmp_path, **given).resume(folder(tmp_path))
        assert not server.asked
    assert isinstance(resumed, Article)
    assert resumed.report.problems == article.report.problems

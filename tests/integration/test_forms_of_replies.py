"""Each form in which servers send a reply is read to the plain reply, and one that was cut off is reported."""

from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel, completion
from reply_forms import FORMS
from servers import Reply, Request
from test_models import models
from test_pipeline import folder, storm

from storm_pipeline import Article
from storm_pipeline.models.programs import Programs
from storm_pipeline.run.events import CallbackSink, Degraded, Event, Retried

PROGRAMS = Programs()
PLAIN = {
    "json": ("FindRelatedTopics", "related_topics", '{"related_topics": ["Caravan", "Spice trade"]}'),
    "text": (
        "AskQuestion",
        "question",
        "What was sold on the road by the merchants of Samarkand in 751, and who bought it?",
    ),
}
"""Kind of a program → its signature, the field of its reply, and a plain reply."""


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, form in FORMS.items() for kind in form.of])
def test_a_reply_in_any_form_is_read_as_the_plain_one(name: str, kind: str) -> None:
    signature, field, plain = PLAIN[kind]
    sent, events = FORMS[name].wrap(plain, field), list[Event]()
    body = completion(plain)
    body["choices"][0]["message"] = {"role": "assistant"} | ({"content": sent} if isinstance(sent, str) else dict(sent))
    given = {"topic": "Silk Road"} | ({} if kind == "json" else {"perspective": "", "conversation": "", "language": ""})
    with FakeModel(faults={signature: [Reply(body=body), Reply(body=completion(plain))]}) as server:
        asking = models(server.lm, events)
        program = PROGRAMS.related if kind == "json" else PROGRAMS.question
        read, expected = (asking.ask("asker", program, **given)[field] for _ in range(2))
    assert read == expected
    assert not [event.reason for event in events if isinstance(event, Retried)]


class CutModel(FakeModel):
    """Ends every answer at the limit of tokens."""

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(request)
        if self.asked[-1].signature == "AnswerFromPassages":
            reply.body["choices"][0]["finish_reason"] = "length"
        return reply


def test_replies_that_end_at_their_limit_are_reported_with_the_setting_to_raise(tmp_path: Path) -> None:
    given: dict[str, Any] = {"turns": 2, "workers": 1, "call_attempts": 1, "reply_tokens": 500}
    events: list[Event] = []
    with CutModel() as server:
        article = storm(server, tmp_path, sinks=[CallbackSink(events.append)], **given).write("Silk Road")
        often = len(server.of("AnswerFromPassages"))
        (problem,) = article.report.problems
        assert problem.detail == (
            "a reply to AnswerFromPassages was cut off at its limit of tokens (openai/fake): "
            f"raise --reply-tokens (now 500) ({often} times)"
        )
        assert len([event for event in events if isinstance(event, Degraded)]) == often
        asked = len(server.asked)
        resumed = storm(server, tmp_path, **given).resume(folder(tmp_path), Article)
        assert len(server.asked) == asked
    assert resumed.report.problems == article.report.problems

"""``dspy.streamify`` of the pipeline."""

import asyncio
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.streaming import StreamListener, StreamResponse
from llm import FakeModel
from test_resume import storm

from storm_pipeline.errors import SettingsError
from storm_pipeline.method.section_markdown import section_to_markdown

TOPIC = "Silk Road"


def streamed(program: Any, *, listeners: Any = None, **options: Any) -> list[Any]:
    async def collect() -> list[Any]:
        stream = dspy.streamify(program, stream_listeners=listeners, **options)(topic=TOPIC)
        return [part async for part in stream]  # type: ignore[attr-defined]

    return asyncio.run(collect())


@pytest.mark.parametrize("is_async_program", [False, True])
def test_a_stream_has_sections_lead_and_prediction(steady: FakeModel, tmp_path: Path, is_async_program: bool) -> None:
    *parts, made = streamed(storm(steady, tmp_path).program, is_async_program=is_async_program)
    assert all(isinstance(part, StreamResponse) and part.is_last_chunk for part in parts)
    *sections, lead = parts
    assert {part.predict_name for part in sections} == {"programs.section.predict"}
    written = [part.chunk for part in sections]
    assert {section_to_markdown(section) for section in made.article.sections} & set(written)
    assert len(written) >= len(made.article.sections) > 1
    assert (lead.predict_name, lead.signature_field_name) == ("programs.lead.predict", "lead")
    assert lead.chunk.startswith("Of Silk Road")


def test_a_listener_hears_the_field_that_it_waits_for(steady: FakeModel, tmp_path: Path) -> None:
    program = storm(steady, tmp_path).program
    *parts, made = streamed(program, listeners=[StreamListener("lead")])
    assert [(part.signature_field_name, bool(part.chunk)) for part in parts] == [("lead", True)]
    assert isinstance(made, dspy.Prediction)
    section = StreamListener("text", predict=program.programs.section.predict, predict_name="section")
    assert {part.predict_name for part in streamed(program, listeners=[section])[:-1]} == {"section"}


def test_a_listener_that_nothing_can_reach_is_refused_before_a_call(steady: FakeModel, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"not 'edits' of programs\.edit\.predict: listen to"):
        streamed(storm(steady, tmp_path).program, listeners=[StreamListener("edits")])
    assert not steady.asked


def test_an_error_of_the_run_ends_the_stream(steady: FakeModel, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the topic is empty"):
        list(dspy.streamify(storm(steady, tmp_path).program, async_streaming=False)(topic=" "))  # type: ignore[call-overload]

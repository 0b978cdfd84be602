"""Runs that are traced, as docs/tracing.md shows it."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback
from llm import FakeModel
from test_resume import answers
from test_resume import storm as open_storm

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "tracing.md").read_text("utf-8")
BEFORE = """
from pathlib import Path
from llm import FakeModel
from test_resume import answers
from test_resume import storm as open_storm
with FakeModel(answers()) as model:
    storm = open_storm(model, Path("."), workers=4)
"""
EXPORTER = """
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    exporter = InMemorySpanExporter()
"""
ONE_TRACE = """
    asked = len(model.asked)
spans = exporter.get_finished_spans()
(run,) = [span for span in spans if span.parent is None]
assert run.name == "StormRun.forward"
assert '"topic": "Silk Road"' in run.attributes["input.value"]
assert "# Silk Road" in run.attributes["output.value"]
assert {span.context.trace_id for span in spans} == {run.context.trace_id}
calls = [span for span in spans if span.name == "StatelessLM.__call__"]
assert len(calls) == asked == article.usage.calls
assert all("llm.input_messages.0.message.content" in span.attributes for span in calls)
known = {span.context.span_id for span in spans}
assert all(span.parent.span_id in known for span in spans if span is not run)
"""


def example(heading: str) -> str:
    """The Python of a section of the page, indented."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r"```python\n(.+?)```", section, re.S)
    assert found
    return "\n".join(f"    {line}" for line in found[1].splitlines())


def run(code: str, place: Path, **variables: str) -> str:
    """What a program prints; a process of its own, since tracers change DSPy for the whole process."""
    paths = os.pathsep.join([str(TESTS), str(TESTS / "integration"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths} | variables
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_openinference_has_one_trace_a_run_with_a_span_of_every_call(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    pytest.importorskip("openinference.instrumentation.dspy")
    run(BEFORE + EXPORTER + example("OpenTelemetry") + ONE_TRACE, tmp_path)


class Calls(BaseCallback):
    """Keeps the modules that were called, each with the ids of its call and of the call around it."""

    def __init__(self) -> None:
        self.seen: list[SimpleNamespace] = []

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        around = ACTIVE_CALL_ID.get()
        self.seen.append(SimpleNamespace(id=call_id, around=around, name=type(instance).__name__, inputs=inputs))


@pytest.mark.parametrize("method", ["write", "outline", "answer"])
def test_dspys_callbacks_see_each_run_as_one_call_in_all_threads(tmp_path: Path, method: str) -> None:
    calls = Calls()
    with FakeModel(answers()) as model, dspy.context(callbacks=[calls]):
        getattr(open_storm(model, tmp_path, workers=4), method)("Silk Road")
    assert roots(calls.seen) == ["StormRun"]
    assert calls.seen[0].inputs["kwargs"]["topic"] == "Silk Road"
    assert Counter(one.name for one in calls.seen)["StormRun"] == 1


def roots(seen: Sequence[SimpleNamespace]) -> list[str]:
    known = {one.id for one in seen}
    return [one.name for one in seen if one.around not in known]

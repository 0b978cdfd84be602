"""Runs that are traced, as docs/tracing.md shows it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("openinference.instrumentation.dspy")

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "tracing.md").read_text(encoding="utf-8")
BEFORE = """
from pathlib import Path
from llm import FakeModel
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from test_resume import answers
from test_resume import storm as open_storm
exporter = InMemorySpanExporter()
with FakeModel(answers()) as model:
    storm = open_storm(model, Path("."), workers=4)
"""
AFTER = """
    asked = len(model.asked)
spans = exporter.get_finished_spans()
(run,) = [span for span in spans if span.name == "Silk Road"]
assert {span.context.trace_id for span in spans} == {run.context.trace_id}
calls = [span for span in spans if span.name == "StatelessLM.__call__"]
assert len(calls) == asked == article.usage.calls
assert all("llm.input_messages.0.message.content" in span.attributes for span in calls)
known = {span.context.span_id for span in spans}
assert all(span.parent.span_id in known for span in spans if span is not run)
"""


def test_a_traced_run_is_one_trace_with_a_span_for_every_call(tmp_path: Path) -> None:
    found = re.search(r"<!-- example -->\n```python\n(.+?)```", PAGE, re.S)
    assert found
    example = "\n".join(f"    {line}" for line in found[1].splitlines())
    paths = os.pathsep.join([str(TESTS), str(TESTS / "integration"), os.environ.get("PYTHONPATH", "")])
    # DSPy is changed for the whole process, so that it is one of its own
    command = [sys.executable, "-c", BEFORE + example + AFTER]
    variables = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(
        command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr

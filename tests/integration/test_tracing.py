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
from servers import Reply, Request, ScriptedServer
from test_resume import answers
from test_resume import storm as open_storm

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs" / "tracing.md").read_text("utf-8")
BEFORE = """
from pathlib import Path
from llm import FakeModel
from servers import Reply, Request, ScriptedServer
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


FLUSHED = """
    mlflow.flush_trace_async_logging()
    print(article.usage.calls, article.usage.tokens_in, article.usage.tokens_out)
"""


class MlflowServer(ScriptedServer):
    """An MLflow server, as far as its client asks it for an experiment and sends it traces."""

    def __init__(self) -> None:
        self.traces: list[dict[str, Any]] = []
        self.spans: list[Any] = []
        super().__init__(self.answer)

    def answer(self, request: Request) -> Reply:
        if request.path.endswith("/experiments/get-by-name"):
            experiment = {"experiment_id": "1", "name": request.query["experiment_name"], "lifecycle_stage": "active"}
            return Reply(body={"experiment": experiment})
        if request.path == "/version":
            return Reply(body="3.17.2")
        if request.path == "/v1/traces":
            from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

            sent = ExportTraceServiceRequest.FromString(request.body)
            self.spans += [span for one in sent.resource_spans for scope in one.scope_spans for span in scope.spans]
            return Reply(body={})
        assert request.path == "/api/3.0/mlflow/traces", request.path
        trace = request.json["trace"]
        self.traces.append(trace["trace_info"])
        trace["trace_info"].setdefault("tags", {})["mlflow.trace.spansLocation"] = "TRACKING_STORE"
        return Reply(body={"trace": trace})


def test_mlflow_has_one_trace_a_run_with_the_calls_nested(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    with MlflowServer() as server:
        page = example("MLflow").replace("http://127.0.0.1:5000", server.url)
        calls, tokens_in, tokens_out = map(
            int, run(BEFORE + page + FLUSHED, tmp_path, DO_NOT_TRACK="true").split()[-3:]
        )
    (trace,) = server.traces
    (root,) = [span for span in server.spans if not span.parent_span_id]
    assert root.name == "StormRun.forward"
    assert "Silk Road" in trace["request_preview"]
    known = {span.span_id for span in server.spans}
    assert all(span.parent_span_id in known for span in server.spans if span is not root)
    assert sum(span.name == "StatelessLM.__call__" for span in server.spans) == calls
    assert f'"input_tokens": {tokens_in}, "output_tokens": {tokens_out}' in str(trace)

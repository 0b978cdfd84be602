"""What users are told of errors carries no names of classes."""

from pathlib import Path

import pytest

from storm_pipeline.errors import unforeseen

ROOT = Path(__file__).parents[2]
FOR_PROGRAMMERS = {
    "storm_pipeline/method/session.py",  # the field `error` of the event that ends a run
    "storm_pipeline/sources/search/edge.py",  # an engine of one's own
    "storm_pipeline/evidence/retrieval/embedder.py",  # an embedder of one's own
    "storm_pipeline/interfaces/server/problems.py",  # the documented field `kind`
    "storm_pipeline/sources/documents/isolated.py",  # what another process raised, by which it is raised here
    "bench/storm_bench/experiments/own_code.py",  # a module of one's own
    "storm_pipeline/interfaces/batch/executors.py",  # what a lost worker raised
}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "unexpected fault: No space left on device"),
        (PermissionError(13, "Permission denied", "runs/x"), "unexpected fault: Permission denied: runs/x"),
        (TypeError("one\ntwo"), "unexpected fault: one two"),
        (KeyError(), "unexpected fault: no reason given"),
    ],
)
def test_an_error_is_said_plainly(error: BaseException, said: str) -> None:
    assert unforeseen(error) == said


def test_no_message_names_the_class_of_an_error() -> None:
    found = set()
    for folder in ("storm_pipeline", "bench/storm_bench"):
        for file in (ROOT / folder).rglob("*.py"):
            if "type(error).__name__" in file.read_text("utf-8"):
                found.add(str(file.relative_to(ROOT)))
    assert found == FOR_PROGRAMMERS

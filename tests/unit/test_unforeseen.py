"""What users are told of errors carries no names of classes."""

from pathlib import Path

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


def test_no_message_names_the_class_of_an_error() -> None:
    found = set()
    for folder in ("storm_pipeline", "bench/storm_bench"):
        for file in (ROOT / folder).rglob("*.py"):
            if "type(error).__name__" in file.read_text("utf-8"):
                found.add(str(file.relative_to(ROOT)))
    assert found == FOR_PROGRAMMERS

"""Files of a run that are lost, damaged or edited: what is found is said, and nothing is bought again unasked."""

from pathlib import Path

from llm import FakeModel
from test_resume import storm

from storm_pipeline import Snippet
from storm_pipeline.run.events import CallbackSink, Event, Noted
from storm_pipeline.search.fake import FakeSearch

HERE = Snippet(
    "http://127.0.0.1:9/silk", "Silk", "Caravans of the Silk Road carried silk and paper to Samarkand in 751."
)


def noted(events: list[Event]) -> list[str]:
    return [event.detail for event in events if isinstance(event, Noted)]


def test_a_damaged_cache_is_named_by_the_run_that_meets_it(tmp_path: Path) -> None:
    events: list[Event] = []
    pages = tmp_path / "cache" / "pages" / "pages.sqlite"
    pages.parent.mkdir(parents=True)
    pages.write_bytes(b"no database " * 900)
    engine = FakeSearch(lambda _: [HERE])
    with FakeModel() as server:
        storm(server, tmp_path, search=engine, read_pages="always", sinks=[CallbackSink(events.append)]).write("Silk")
    (said,) = [detail for detail in noted(events) if "cache" in detail]
    assert f"{pages} was damaged and moved to" in said

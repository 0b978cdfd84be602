"""The HTTP API over runs that end at once, with an article that was written before: no model is asked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from articles import article, section, sentence, source
from test_pipeline import NoContents

from storm_pipeline import Article, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.server.gate import Gate
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.method.context import validate_topic
from storm_pipeline.run.events import EventSink, RunStarted
from storm_pipeline.run.folder import RunStore
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.fake import FakeSearch

PAGE = source("orrin", "The Orrin dam was finished in 1926.")
ARTICLE = article(section("History", sentence("The Orrin dam was finished in 1926.", PAGE)), sources=(PAGE,))


class WrittenBefore(Storm):
    """A ``Storm`` whose runs end at once, and whose answers are the same."""

    def resume(self, run: Path | str, kind: Any = None, *, sinks: Sequence[EventSink] = (), **_: Any) -> Any:
        with RunStore.open(Path(run)) as store:
            store.begin(self.settings)
            event = RunStarted(store.topic, str(run), store.state["sessions"])
            for sink in sinks:
                sink.emit(event)
            store.save_text("outline.md", "# History\n")
            if not store.recipe.startswith("outline"):
                store.save_text("article.json", ARTICLE.to_json())
            store.end("finished")

    def ask(self, article: Any, question: str, **_: Any) -> Article:
        return replace(ARTICLE, title=validate_topic(question))


def opened(settings: Settings) -> Storm:
    return WrittenBefore(settings, search=FakeSearch({}), embedder=HashingEmbedder(), contents=NoContents())


def service(place: Path) -> RunService:
    """The runs of a server, in a folder; in ``with``."""
    lm = "openai/none@http://127.0.0.1:1/v1"
    owner = Settings(lm=lm, search="wikipedia", prices=("openai/none=1/1",), out=place / "runs", cache=place / "cache")
    return RunService(RemoteSettings.build(owner), most_waiting=10_000, open_storm=opened)


def application(served: RunService, token: str = "", host: str = "testserver") -> Gate:
    from storm_pipeline.interfaces.server.http_api import create_app  # needs an extra

    return create_app(served, token, Reach.build(host))

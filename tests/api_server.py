"""A process that serves the HTTP API on top of the scripted model.

Variables: ``TRUST_PROXY``; ``GO_ON``: runs of an earlier server go on; ``AT_ONCE``: how many runs are, by default 1.
"""

import os
from pathlib import Path

from found_pages import world
from test_pipeline import NoContents

from storm_pipeline import Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.server.callers import TOKEN_VARIABLE, require_valid_token
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.interfaces.server.serving import serve_api
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.fake import FakeSearch


def small_storm(settings: Settings) -> Storm:
    """A ``Storm`` that searches and embeds without a network or a model; documents that it is told to search are."""
    search = None if settings.search.startswith("corpus:") else FakeSearch(world)
    return Storm(settings, search=search, embedder=HashingEmbedder(), contents=NoContents())


def small_settings(lm: str, runs: Path, cache: Path) -> Settings:
    """Settings of small runs."""
    small = {"workers": 2, "call_attempts": 1, "max_failures": 0, "queries": 3}
    return Settings(lm=lm, out=runs, cache=cache, lm_timeout=20, max_tokens=1_000_000, **small)


def serve(variables: dict[str, str], log: Path, port: str, lm: str, runs: str, cache: str, *allow: str) -> None:
    """Serve in this process, with these variables alone."""
    os.environ.clear()
    os.environ.update(variables)
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    remote = RemoteSettings.build(small_settings(lm, Path(runs), Path(cache)), allow)
    reach = Reach.build("127.0.0.1", (), tuple(os.environ.get("TRUST_PROXY", "").split()))
    with RunService(remote, at_once=int(os.environ.get("AT_ONCE", "1")), open_storm=small_storm) as service:
        token = require_valid_token("127.0.0.1", os.environ.get(TOKEN_VARIABLE, ""), service.tokens)
        if os.environ.get("GO_ON"):
            service.resume_unfinished()
        serve_api(service, "127.0.0.1", int(port), token, reach)

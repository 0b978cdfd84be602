"""A process that serves MCP on top of the scripted model: ``mcp_server.py LM RUNS CACHE``."""

import sys
from pathlib import Path

from api_server import small_settings, small_storm
from found_pages import world

from storm_pipeline import Storm
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.interfaces.server.serving import serve_mcp
from storm_pipeline.interfaces.server.source_search import SourceSearch
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch


def noisy_storm(settings: Settings) -> Storm:
    """As a library might do that prints."""
    print("this must not reach the client", flush=True)
    return small_storm(settings)


if __name__ == "__main__":
    lm, runs, cache = sys.argv[1:]
    remote = RemoteSettings.build(small_settings(lm, Path(runs), Path(cache)))
    with RunService(remote, at_once=1, open_storm=noisy_storm) as service:
        service.sources = SourceSearch(remote.owner, with_checks(FakeSearch(world)))
        serve_mcp(service)

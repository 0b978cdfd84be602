"""Serving MCP over standard input and output."""

from typing import TYPE_CHECKING

from storm_pipeline.errors import MissingExtraError

if TYPE_CHECKING:
    from storm_pipeline.search.base import Search
    from storm_pipeline.server.run_service import RunService


def require_mcp() -> None:
    """Check that the MCP library is installed.

    Raises:
        MissingExtraError: it is not.
    """
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the MCP server needs the extra 'mcp': pip install 'storm-pipeline[mcp]'") from error


def serve_mcp(service: "RunService", engine: "Search | None" = None) -> None:
    """Serve MCP until standard input ends.

    Args:
        service: the runs.
        engine: a search engine to use instead of the one that the owner's settings name.
    """
    from storm_pipeline.server.mcp_tools import create_mcp_server
    from storm_pipeline.server.source_search import SourceSearch

    search = SourceSearch(service.remote.owner, engine)
    try:
        create_mcp_server(service, search).run("stdio")
    finally:
        search.close()

"""Serving MCP over standard input and output."""

from typing import TYPE_CHECKING

from storm_pipeline.errors import needs_extra

if TYPE_CHECKING:
    from storm_pipeline.search.base import Search
    from storm_pipeline.server.run_service import RunService


def require_mcp() -> None:
    """Check that the MCP library is installed. Raises MissingExtraError: it is not."""
    with needs_extra("mcp", "the MCP server"):
        import mcp.server.mcpserver  # noqa: F401


def serve_mcp(service: "RunService", engine: "Search | None" = None) -> None:
    """Serve MCP until standard input ends.

    ``engine``: a search engine to use instead of the one that the owner's settings name.
    """
    from storm_pipeline.server.mcp_tools import SourceSearch, create_mcp_server

    search = SourceSearch(service.remote.owner, engine)
    try:
        create_mcp_server(service, search).run("stdio")
    finally:
        search.close()

"""MCP over HTTP."""

from typing import TYPE_CHECKING

from storm_pipeline.errors import MissingExtraError, needs_extra
from storm_pipeline.interfaces.server.gate import LARGE_BYTES

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from storm_pipeline.interfaces.server.checking import ArticleCheck
    from storm_pipeline.interfaces.server.run_service import RunService


def require_mcp() -> None:
    """Check that the MCP library is installed. Raises MissingExtraError: it is not."""
    with needs_extra("mcp", "the MCP server"):
        import mcp.server.mcpserver  # noqa: F401


def mcp_app(service: "RunService", check: "ArticleCheck") -> "Starlette | None":
    """Return the ASGI application of MCP over HTTP, without sessions; None if the library is not installed.

    A :class:`storm_pipeline.interfaces.server.gate.Gate` in front of it checks hosts, origins and sizes.
    """
    try:
        require_mcp()
    except MissingExtraError:
        return None
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.routing import Route

    from storm_pipeline.interfaces.server.mcp_tools import create_mcp_server
    from storm_pipeline.interfaces.server.source_search import SourceSearch

    server = create_mcp_server(service, SourceSearch(service.remote.owner), check)
    passed = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(stateless_http=True, transport_security=passed, max_request_body_size=LARGE_BYTES)
    for route in app.routes:
        if isinstance(route, Route):
            route.methods = {"POST"}  # without sessions, a GET stream would be empty
    return app

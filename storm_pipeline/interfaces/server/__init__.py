"""Runs for other programs: an HTTP API and an MCP server (Model Context Protocol) over the same runs.

``remote_settings.py`` defines the settings that callers may choose, ``run_service.py`` starts and stops runs, and
``http_api.py`` and ``mcp_tools.py`` are the two interfaces. ``problems.py`` has the errors of the HTTP API;
``api_description.py`` completes FastAPI's description of it. ``gate.py`` admits requests, and ``callers.py`` identifies
callers.
"""

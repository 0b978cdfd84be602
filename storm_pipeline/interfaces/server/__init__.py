"""Runs for other programs: an HTTP API and an MCP server (Model Context Protocol) over the same runs.

``remote_settings.py`` says which settings a caller may choose, ``run_service.py`` starts and stops runs, and
``http_api.py`` and ``mcp_tools.py`` are the two interfaces. Operations of the HTTP API are a table
(``routes.py``), each with the errors that it can give (``problems.py``); ``api_description.py`` adds to what FastAPI
says of them. ``gate.py`` lets requests in, ``callers.py`` says who makes them, and ``caller_runs.py`` what of the runs
is theirs.
"""

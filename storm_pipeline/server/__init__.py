"""Runs for programs elsewhere: an HTTP API and a server of the Model Context Protocol over the same runs.

``remote_settings.py`` says what a caller may choose, ``run_service.py`` starts and stops runs, ``http_api.py`` and
``mcp_tools.py`` are the two ways in.
"""

"""Pages for browsers over the same runs as the HTTP API: writing, watching and reading articles.

``app.py`` has the routes of the pages, ``entrance.py`` sessions and the login, ``run_pages.py`` and
``research_map.py`` what the pages of a run show, ``recording.py`` the example that ships. May import errors, text,
types, settings, run, output, storm and interfaces.server.
"""

"""Pages for browsers over the same runs as the HTTP API: writing, watching and reading articles.

``app.py`` has the routes of the pages, ``page.py`` renders their templates, ``entrance.py`` has sessions and the login,
``run_pages.py`` and ``research_map.py`` the contents of a run's pages, ``recording.py`` the example that ships.
"""

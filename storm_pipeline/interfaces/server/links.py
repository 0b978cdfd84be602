"""Entrance of applications whose users get a link each, by the gate and the sessions of the server of storm."""

from collections.abc import Callable

from fastapi import FastAPI

from storm_pipeline.interfaces.server.callers import Caller, KnownTokens
from storm_pipeline.interfaces.server.gate import Gate, Turns
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.web.entrance import OPEN_PAGES, Page, Sessions, entrance


class LinkSessions(Sessions):
    """Sessions that a link opens, each time: ``/enter?key=TOKEN``."""

    def enter(self, key: str) -> str | None:
        """Return the cookie of a new session for a token; None if it is wrong."""
        return self.log_in(key)


def behind_links(app: FastAPI, name_of: Callable[[str], str | None], reach: Reach, page: Page, problem: Page) -> Gate:
    """Return an application behind the gate of a server, which is entered by ``/enter?key=TOKEN`` or a bearer token.

    ``name_of``: hash of a token → who has it, or None. ``page``: renders ``login.html``; ``problem``: a refusal,
    from the request, its status and the reason.
    """
    tokens = KnownTokens(lambda sha256: Caller(name) if (name := name_of(sha256)) else None)
    sessions = LinkSessions(tokens)
    app.include_router(entrance(sessions, page))
    app.add_middleware(Turns)
    return Gate(app, "", tokens, reach, of_session=sessions.find, open_pages=OPEN_PAGES, problem=problem)

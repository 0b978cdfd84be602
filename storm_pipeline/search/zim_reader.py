"""Reads a ZIM file for another process: a request a line on standard input, an answer a line on standard output.

A damaged index sends libzim into endless loops that hold the interpreter's lock, and other damage ends the process. So
it is run as a script of its own, which imports nothing of this package, and which its parent can kill. A request that
takes too long ends it even if the parent is gone.
"""

import base64
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

_MAX_BYTES = 20_000_000  # bytes of a page, at most


class Reader:
    """What can be asked of a file; each method's arguments and result are values of JSON."""

    def __init__(self, path: Path) -> None:
        from libzim.reader import Archive  # type: ignore[import-untyped]

        self._archive = Archive(path)

    def about(self) -> dict[str, bool]:
        """How it can be searched, and which paths its entries have."""
        return {"full_text": self._archive.has_fulltext_index, "new_paths": self._archive.has_new_namespace_scheme}

    def metadata(self, key: str) -> str:
        """An entry of its metadata, such as ``Name``; empty if there is none."""
        if key not in self._archive.metadata_keys:
            return ""
        return str(self._archive.get_metadata(key).decode("utf-8", "replace"))

    def exists(self, path: str) -> bool:
        """Whether there is an entry at a path."""
        return bool(self._archive.has_entry_by_path(path))

    def page(self, path: str) -> dict[str, str] | None:
        """Title, path and bytes (Base64) of the page at a path, redirects followed; None if it is no page."""
        item = self._archive.get_entry_by_path(path).get_item()
        if not item.mimetype.startswith("text/html") or not 0 < item.size <= _MAX_BYTES:
            return None
        data = base64.b64encode(bytes(item.content)).decode("ascii")
        return {"title": item.title, "path": item.path, "data": data}

    def titles(self, asked: str, count: int) -> list[str]:
        """Paths of the entries whose titles are like a text, best first."""
        from libzim.suggestion import SuggestionSearcher  # type: ignore[import-untyped]

        return list(SuggestionSearcher(self._archive).suggest(asked).getResults(0, count))

    def matches(self, text: str) -> int:
        """About how many entries have all words of a text."""
        return int(self._search(text).getEstimatedMatches())

    def full_text(self, text: str, count: int) -> list[str]:
        """Paths of the entries with all words of a text, best first."""
        return list(self._search(text).getResults(0, count))

    def _search(self, text: str) -> Any:
        from libzim.search import Query, Searcher  # type: ignore[import-untyped]

        return Searcher(self._archive).search(Query().set_query(text))


_REQUESTS = {name: request for name, request in vars(Reader).items() if callable(request) and not name.startswith("_")}


def main(path: str, seconds: float) -> None:
    """Answer requests until standard input ends. ``seconds``: of processor time that a request may take."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)  # libzim prints what it finds
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    reader = None
    for line in sys.stdin:
        _end_after(seconds)
        try:
            reader = reader or Reader(Path(path))
            name, *arguments = json.loads(line)
            answer: dict[str, Any] = {"value": _REQUESTS[name](reader, *arguments)}
        except (RuntimeError, KeyError, ValueError) as error:
            answer = {"error": str(error) or "no reason given"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _end_after(seconds: float) -> None:
    """Have the system end this process after so much processor time, where it can."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = math.ceil(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

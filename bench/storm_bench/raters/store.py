"""A round of ratings in one SQLite file: the study, what was drawn, and every answer that was ever given."""

import json
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from storm_bench.errors import RatingError
from storm_bench.folders import folder_to_write, require_no_links
from storm_bench.raters.assignment import Assigned
from storm_bench.raters.study import Study
from storm_pipeline import Article
from storm_pipeline.api import LARGEST_DATABASE, from_json, open_database

FILE = "ratings.sqlite"
CLOSED = "this round is closed: what you have answered is kept, and nothing can be changed any more"
_TABLES = """
CREATE TABLE round (study TEXT NOT NULL, is_open INTEGER NOT NULL);
CREATE TABLE articles (place INTEGER PRIMARY KEY, article TEXT NOT NULL);
CREATE TABLE raters (name TEXT PRIMARY KEY, token TEXT NOT NULL);
CREATE TABLE assigned (rater TEXT NOT NULL, number INTEGER NOT NULL, articles TEXT NOT NULL, wanted INTEGER NOT NULL,
    PRIMARY KEY (rater, number));
CREATE TABLE answers (id INTEGER PRIMARY KEY, rater TEXT NOT NULL, number INTEGER NOT NULL, article INTEGER NOT NULL,
    question TEXT NOT NULL, value TEXT NOT NULL, saved TEXT NOT NULL);
CREATE INDEX of_rater ON answers (rater);
"""
_INDEX = "CREATE INDEX IF NOT EXISTS latest ON answers (rater, number, article, question, id)"
_LATEST = """SELECT rater, number, article, question, value, saved FROM answers WHERE id IN
    (SELECT max(id) FROM answers {where} GROUP BY rater, number, article, question) AND value != '' ORDER BY id"""
_VALUE = """SELECT value FROM answers
    WHERE rater = ? AND number = ? AND article = ? AND question = ? ORDER BY id DESC LIMIT 1"""
_SIZE = """SELECT sum(100 + length(CAST(value || question || question || rater || rater || rater AS BLOB))) FROM answers
    WHERE rater = ?"""  # bytes with the entries in the indexes, of which the file takes at most twice as many
_MOST_BYTES, _MOST_OF_ALL = LARGEST_DATABASE // 128, LARGEST_DATABASE // 5  # of the answers of a rater; of all raters


class Answer(NamedTuple):
    """An answer of a rater, the latest to its question."""

    rater: str
    number: int  # of the assignment; 0 for the statements at the end
    article: int  # place of the article in the study; -1 for a pair, a check of attention, and the statements
    question: str
    value: str
    saved: str  # time (UTC, ISO)


@dataclass(frozen=True)
class Round:
    """A round as it was set up; it does not change."""

    study: Study
    articles: Sequence[Article]
    assigned: Mapping[str, Sequence[Assigned]]  # rater → in order


class Ratings:
    """The file of a round. Thread-safe; processes may share it, of which one writes at a time.

    A method that returns has its answers on the disk: the file is in WAL mode with full synchronisation. Methods raise
    RatingError: the file is absent, damaged or locked, or not as setup makes it, such as with a trigger. Raises
    DatasetError: it is a link.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        require_no_links(folder / f"{FILE}{end}" for end in ("", "-wal", "-shm", "-journal"))
        if not self.path.is_file():
            raise RatingError(f"{folder} has no {FILE}: give the folder that setup wrote")
        self._lock, self._looking_up = threading.Lock(), threading.Lock()
        try:
            self._db, self._tokens = _connect(self.path), _connect(self.path)
            weakref.finalize(self, self._db.close)
            weakref.finalize(self, self._tokens.close)
            self.round = self._read_round()
        except (sqlite3.Error, OSError, ValueError, TypeError, LookupError) as error:
            raise RatingError(f"{self.path} cannot be used: {error}") from error

    def _read_round(self) -> Round:
        study = Study.model_validate_json(self._rows("SELECT study FROM round")[0][0])
        if problem := next(study.problems(), None):
            raise ValueError(": ".join(problem))
        articles = [from_json(text) for (text,) in self._rows("SELECT article FROM articles ORDER BY place")]
        assigned: dict[str, list[Assigned]] = {rater.name: [] for rater in study.raters}
        for rater, number, places, wanted in self._rows("SELECT * FROM assigned ORDER BY rater, number"):
            assigned[rater].append(Assigned(rater, number, tuple(json.loads(places)), wanted))
        is_numbered = all(one.number == n for own in assigned.values() for n, one in enumerate(own, 1))
        shown = [(rater, tuple(sorted(one.articles))) for rater, own in assigned.items() for one in own if one.articles]
        are_items = {item for _, item in shown} <= {tuple(sorted(item)) for item in study.items}
        if not is_numbered or len(articles) != len(study.articles) or not are_items or len(set(shown)) < len(shown):
            raise ValueError("what was drawn does not fit the study")
        return Round(study, articles, assigned)

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    @property
    def is_open(self) -> bool:
        """Whether answers can be saved."""
        return bool(self._rows("SELECT is_open FROM round")[0][0])

    def set_open(self, *, is_open: bool) -> None:
        """Open or close the round."""
        self._rows("UPDATE round SET is_open = ?", int(is_open))

    def renew(self, rater: str) -> str:
        """Return a new token of a rater; an earlier one works no longer. Raises RatingError: no such rater."""
        token = secrets.token_urlsafe(32)
        if not self._rows("UPDATE raters SET token = ? WHERE name = ? RETURNING name", _digest(token), rater):
            raise RatingError(f"{rater!r} is not a rater of this round: {', '.join(self.round.assigned)}")
        return token

    def holder(self, digest: str) -> str | None:
        """Return the name of the rater whose token has this hash; None if nobody has. It waits for no saving."""
        with self._looking_up:
            found = self._tokens.execute("SELECT name FROM raters WHERE token = ?", [digest]).fetchone()
        return str(found[0]) if found and found[0] in self.round.assigned else None

    def save(self, rater: str, number: int, answers: Iterable[tuple[int, str, str]]) -> None:
        """Save answers: place of the article, question and value; an empty value takes an answer back.

        Those equal to the latest are left out. Raises RatingError: the round is closed, or the rater's share is full.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        rows = [(rater, number, *answer, now) for answer in answers]
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._insert(rater, rows)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def _insert(self, rater: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if not self._db.execute("SELECT is_open FROM round").fetchone()[0]:
            raise RatingError(CLOSED)
        changed = [row for row in rows if (self._db.execute(_VALUE, row[:4]).fetchone() or ("",))[0] != row[4]]
        self._db.executemany("INSERT INTO answers VALUES (NULL, ?, ?, ?, ?, ?, ?)", changed)
        most = min(_MOST_BYTES, _MOST_OF_ALL // len(self.round.assigned))
        if changed and self._db.execute(_SIZE, [rater]).fetchone()[0] > most:
            raise RatingError(f"a round keeps {most:,} bytes of a rater's answers, changed ones too; yours are as many")

    def answers(self, rater: str = "") -> list[Answer]:
        """Return the latest answers, in the order of their saving; ``rater``: only these."""
        found = self._rows(_LATEST.format(where="WHERE rater = ?" if rater else ""), *([rater] if rater else []))
        return [Answer(*row) for row in found if bytes not in map(type, row)]


def set_up(folder: Path, study: Study, articles: Sequence[Article], assigned: Iterable[Assigned]) -> dict[str, str]:
    """Write the file of a new round, and return rater → token. Raises RatingError: there is one, or it is too large."""
    folder = folder_to_write(folder)
    if (folder / FILE).exists():
        raise RatingError(f"{folder / FILE} is there already: name another folder, or delete it with its ratings")
    folder.mkdir(parents=True, exist_ok=True)
    tokens = {rater.name: secrets.token_urlsafe(32) for rater in study.raters}
    partial = folder / f".{FILE}"
    partial.unlink(missing_ok=True)
    with closing(open_database(partial, _TABLES)) as db:
        db.execute("BEGIN")
        db.execute("INSERT INTO round VALUES (?, 1)", [study.model_dump_json()])
        db.executemany("INSERT INTO articles VALUES (?, ?)", [(n, one.to_json()) for n, one in enumerate(articles)])
        db.executemany("INSERT INTO raters VALUES (?, ?)", [(name, _digest(token)) for name, token in tokens.items()])
        rows = [(one.rater, one.number, json.dumps(one.articles), one.wanted) for one in assigned]
        db.executemany("INSERT INTO assigned VALUES (?, ?, ?, ?)", rows)
        db.execute("COMMIT")
    if partial.stat().st_size > LARGEST_DATABASE // 2:
        partial.unlink()
        raise RatingError(f"the articles take more than {LARGEST_DATABASE // 2:,} bytes: rate fewer in a round")
    partial.chmod(0o600)
    partial.rename(folder / FILE)
    return tokens


def _connect(path: Path) -> sqlite3.Connection:
    db = open_database(path, _TABLES + _INDEX, largest=LARGEST_DATABASE)
    if (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":  # such as a page that is used many times
        db.close()
        raise ValueError(found)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute(_INDEX)
    return db


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()

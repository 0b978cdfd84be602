"""What files decide by themselves, and what only with the user's consent.

Options, the environment and the user's own configuration are the user's word. Files that came with a folder, a run or
a list of topics may be another's: by themselves they decide what is written (:data:`CONTENT`), never who is asked, who
gets a key, what is executed, or where files are kept. Whatever else they say is a :class:`Claim`, which counts once the
user has consented to exactly that; the consents are kept in the user's state folder.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.configuration.addresses import HIDDEN, redacted
from storm_pipeline.configuration.renamed import hashed_name
from storm_pipeline.configuration.variables import names_secret, user_state
from storm_pipeline.errors import UntrustedError
from storm_pipeline.files import write_atomically

CONTENT = frozenset(
    "perspectives turns queries depth related_topics top_k source_language region since until domains "
    "without_domains read_pages source_policy allow_sources deny_sources exclude_urls exclude_titles answer_facts "
    "section_snippets section_facts max_sections outline_depth outline_words writing answers length "
    "evidence article_language about style editing uncited temperature top_p seed".split()
)
"""Settings that say what is written."""
CAPS = ("max_cost", "max_tokens", "max_minutes")
"""Caps on spending: a file of a folder may lower the user's, and set one where the user has none."""
_ENGINE = r"(?:wikipedia:[a-z]{2,3}|[a-z][a-z-]*)"
_ENGINES_ALONE = re.compile(rf"(?:(?:fused|first):)?{_ENGINE}(?:\s*[+>]\s*{_ENGINE})*")
"""Search engines without a path or an address."""
_NAMED = frozenset(
    "lm asker_lm expert_lm outliner_lm writer_lm reviewer_lm judge_lm embedder structured search_cache "
    "wikipedia_contents judge judge_form tagger heading_embedder heading_truth headings".split()
)
"""Settings of runs and metrics that name a model, or one of few ways."""
_PLAIN_NAME = re.compile(r"(?!gguf:)\w[\w.-]*(?:[:/]\w[\w.-]*)*")


def is_content(setting: str, value: Any) -> bool:
    """Whether a value says what is written: the closed list, and engines without a path or address."""
    if setting == "search":
        return isinstance(value, str) and bool(_ENGINES_ALONE.fullmatch(value.strip()))
    return setting in CONTENT


def decides_alone(setting: str, value: Any) -> bool:
    """Whether any file may give a setting this value, if it is no cap above the user's."""
    return setting in CAPS or is_content(setting, value)


def decides_in_a_command(setting: str, value: Any) -> bool:
    """Whether a file that a command names, such as an experiment's, may give a setting this value by itself.

    Beside what is written these are numbers, and models at their providers' own addresses: never an address, a file,
    or a variable's name.
    """
    is_number = isinstance(value, int | float) or value is None
    is_name = setting in _NAMED and isinstance(value, str) and bool(_PLAIN_NAME.fullmatch(value))
    return decides_alone(setting, value) or is_number or is_name


@dataclass(frozen=True)
class Claim:
    """What a file or a run decides beyond what is written."""

    place: Path  # the file, or the folder of a run or batch
    values: Mapping[str, Any]  # setting or variable → JSON value; at least one
    identity: str = ""  # what the consent is for, beside the values; by default the place

    @property
    def digest(self) -> str:
        """Hash of identity and values: another value needs another consent."""
        values = {
            re.sub(r"\w+$", lambda name: hashed_name(name[0]), name): value for name, value in self.values.items()
        }
        about = [self.identity or str(self.place.resolve()), values]
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()

    @property
    def lines(self) -> tuple[str, ...]:
        """The values as they are shown to the user, who is to judge them; keys and tokens are hidden."""
        shown = {name: HIDDEN if names_secret(name) else value for name, value in self.values.items()}
        return tuple(f"{name} = {redacted(json.dumps(value, default=str))}" for name, value in shown.items())


@dataclass(frozen=True)
class Consent:
    """A consent on record."""

    digest: str  # that of the claim
    place: str  # where the claim was found
    counts: bool = True  # False if the user wants the claim to be left out, without being asked
    own: bool = False  # whether the user made the run himself, so that nobody was asked
    since: float = 0.0  # seconds since 1970


def untrusted(claims: Iterable[Claim]) -> UntrustedError:
    """The error that names what the claims decide, and how to consent."""
    claims = tuple(claims)
    said = "; ".join(f"{claim.place} sets {', '.join(claim.values)}" for claim in claims)
    first = claims[0].place
    folder = first if first.is_dir() else first.absolute().parent
    return UntrustedError(
        f"{said}: that decides who is asked, who gets a key or where files are, so it counts only once you trust it: "
        f"read it, then run `storm trust {folder}`, or give these settings yourself",
        claims,
    )


def decision(claim: Claim) -> bool | None:
    """Whether a claim counts: True or False as the user decided last, None where he has not."""
    consent = _read(_file(claim.digest))
    return consent.counts if consent else None


def consents() -> tuple[Consent, ...]:
    """The consents on record, oldest first; damaged files are left out, so that the user is asked again."""
    found = filter(None, map(_read, _folder().glob("*.json")))
    return tuple(sorted(found, key=lambda consent: (consent.since, consent.digest)))


def remember(claim: Claim, *, counts: bool = True, own: bool = False) -> None:
    """Record the user's decision on a claim, in place of an earlier one.

    Raises OSError: the state folder cannot be written.
    """
    consent = Consent(claim.digest, str(claim.place.resolve()), counts, own, round(time.time(), 1))
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(_file(claim.digest), json.dumps(vars(consent)) + "\n")


def revoke(folder: Path) -> int:
    """Forget what was decided about a folder and everything below it; returns how much that was.

    Runs below it that the user began himself stay known. Raises OSError: the state folder cannot be written.
    """
    folder = folder.resolve()
    below = [one for one in consents() if Path(one.place).is_relative_to(folder)]
    forgotten = [one for one in below if not one.own or one.place == str(folder)]
    for consent in forgotten:
        _file(consent.digest).unlink(missing_ok=True)
    return len(forgotten)


def _folder() -> Path:
    """Where consents are kept, a small file each: one that grows could outgrow a limit on the size of files."""
    return user_state() / "trusted"


def _file(digest: str) -> Path:
    return _folder() / f"{digest}.json"


def _read(file: Path) -> Consent | None:
    try:
        consent = Consent(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return consent if consent.digest == file.stem else None

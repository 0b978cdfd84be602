"""Sentences with ``[n]`` markers, and replies to remarks on them, as a capable model writes them. Pure functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.languages import joined
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.grounding import Claim
from storm_pipeline.text.words import MARKER, has_word
from storm_pipeline.types import Citation

_EMPHASIS = re.compile(r"(?<!\d)(\*\*|__|\*)(\S(?:.*?\S)?)\1(?!\d)")
_LONGEST_TITLE = 10  # maximum length of an emphasised title in words
_LONGEST_MARKER = 60  # characters at the end of a text in which to look for its last marker


def claims_of(line: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> tuple[tuple[Claim, ...], int]:
    """The sentences of a line with the positions they cite, and the number of markers that refer to no passage.

    ``line``: text with markers; emphasis is removed, and emphasised text, such as a title, is not split.
    """
    positions = [Citation(str(position), "") for position in range(shown)]
    titles = [found[2] for found in _EMPHASIS.finditer(line) if len(found[2].split()) <= _LONGEST_TITLE]
    cited = parse_cited(without_emphasis(line), positions, language, (*names, *titles))
    sentences = (s for s in cited.sentences if has_word(s.text))
    return tuple(Claim(s.text, tuple(int(c.source_id) for c in s.citations)) for s in sentences), cited.invented


def without_emphasis(line: str) -> str:
    """The line without the asterisks and underscores of bold and italic type."""
    return _EMPHASIS.sub(r"\2", line)


def has_markers_alone(line: str) -> bool:
    """Whether a line is nothing but markers."""
    return bool(MARKER.search(line)) and not has_word(MARKER.sub("", line))


def ends_in_marker(text: str) -> bool:
    """Whether a text ends with a marker; citations come last, so its last sentence is then complete."""
    end = text.rstrip("\n\r\t `*_|")
    return any(found.end() == len(end) for found in MARKER.finditer(end, max(0, len(end) - _LONGEST_MARKER)))


_NUMBERED = re.compile(
    r"[\s>*_#(\[\-•]{0,6}(?:(?:remark|sentence)\s+)?#?(\d{1,3})"
    r"(?:[*_]{0,2}(?:\s?[.):\]：．、）】]{1,3}(?!\d)|\s[–—-]\s)[*_]{0,2}[:：]?)\s*(.*)$",
    re.I,
)
_DELETE = re.compile(
    r"\W*(?:löschen|gelöscht|streichen|supprim(?:er|é|ez)|elimin(?:ar|ado)|borrar|удалить|удалено|"
    r"احذف|حذف|يحذف|删除|刪除|削除)\W*|"
    r"\W*(?:deleted?|dropp?e?d?|removed?)(?:\s(?:it|this|the)(?:\ssentence)?)?[\W\d]*|\W*deleted?\s?[-–—:;.,(].*",
    re.I,
)
_QUOTATION_SEPARATOR = re.compile("[|｜]")


@dataclass(frozen=True)
class RemarkReply:
    """The writer's reply to one remark."""

    claim: Claim | None  # the replacement sentence; None to delete it
    quotation: str = ""  # words of a passage quoted in support; may be empty


def read_replies(text: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> dict[int, RemarkReply]:
    """Number of a remark → the reply to it; the last of several replies to one remark counts.

    A number may be bracketed, bold, preceded by "Remark", and followed by a dot, a colon or a dash. The sentence and
    the quotation may be on the next line. Other lines without a number are ignored. ``names``: names that contain full
    stops, which are not split.
    """
    replies: dict[int, str] = {}
    number = 0
    for line in text.splitlines():
        if found := _NUMBERED.match(line):
            number = int(found[1])
            replies[number] = found[2]
        elif number and (not replies[number].strip() or line.lstrip().startswith(("|", "｜"))):
            replies[number] += f" {line}"
    return {number: _reply(reply, shown, language, names) for number, reply in replies.items() if reply.strip()}


def _reply(text: str, shown: int, language: str, names: Sequence[str]) -> RemarkReply:
    sentence, *quotation = map(str.strip, _QUOTATION_SEPARATOR.split(text, maxsplit=1))
    claims, _ = claims_of(sentence, shown, language, names)
    if _DELETE.fullmatch(sentence) or not claims:
        return RemarkReply(None)
    cited = tuple(dict.fromkeys(position for claim in claims for position in claim.cited))
    return RemarkReply(Claim(joined([claim.text for claim in claims], language), cited), "".join(quotation))

"""Parses a writer's replies to remarks on its draft, one per line: ``3: sentence [2] | "words of the passage"``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.languages import joined
from storm_pipeline.references.grounding import Claim
from storm_pipeline.writers.claims import claims_of

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
_QUOTATION_SEPARATOR = re.compile(r"\s*[|｜]\s*")


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
    sentence, *quotation = _QUOTATION_SEPARATOR.split(text, maxsplit=1)
    claims, _ = claims_of(sentence, shown, language, names)
    if _DELETE.fullmatch(sentence) or not claims:
        return RemarkReply(None)
    cited = tuple(dict.fromkeys(position for claim in claims for position in claim.cited))
    return RemarkReply(Claim(joined([claim.text for claim in claims], language), cited), "".join(quotation))

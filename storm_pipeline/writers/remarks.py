"""What a writer replies to remarks on its draft, one line for each: ``3: sentence [2] | "words of the passage"``."""

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
_QUOTED_FOR_IT = re.compile(r"\s*[|｜]\s*")


@dataclass(frozen=True)
class Reply:
    """The writer's reply to one remark.

    Attributes:
        claim: the sentence as it is to stand; None to delete it.
        quotation: words of a passage that the writer gives for it; may be empty.
    """

    claim: Claim | None
    quotation: str = ""


def read_replies(text: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> dict[int, Reply]:
    """Number of a remark → the reply to it; of two replies to one remark the second counts.

    A number may stand in brackets or in bold type, behind "Remark", and before a dot, a colon or a dash. Its sentence
    may begin on the next line, and its quotation stand there. Other lines without a number are passed over.

    Args:
        text: the reply.
        shown: how many passages were numbered.
        language: ISO 639-1 code of the sentences.
        names: names that contain stops, which are not split.
    """
    told: dict[int, str] = {}
    number = 0
    for line in text.splitlines():
        if found := _NUMBERED.match(line):
            number = int(found[1])
            told[number] = found[2]
        elif number and (not told[number].strip() or line.lstrip().startswith(("|", "｜"))):
            told[number] += f" {line}"
    return {number: _reply(own, shown, language, names) for number, own in told.items() if own.strip()}


def _reply(text: str, shown: int, language: str, names: Sequence[str]) -> Reply:
    sentence, *quotation = _QUOTED_FOR_IT.split(text, maxsplit=1)
    claims, _ = claims_of(sentence, shown, language, names)
    if _DELETE.fullmatch(sentence) or not claims:
        return Reply(None)
    cited = tuple(dict.fromkeys(position for claim in claims for position in claim.cited))
    return Reply(Claim(joined([claim.text for claim in claims], language), cited), "".join(quotation))

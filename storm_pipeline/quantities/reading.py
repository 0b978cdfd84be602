"""Every number and date of a text, in order. Linear in the text's length."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from storm_pipeline.quantities import literals
from storm_pipeline.quantities.months import blanked, dates
from storm_pipeline.quantities.periods import periods
from storm_pipeline.quantities.rounding import rounded
from storm_pipeline.quantities.scanning import Scanner
from storm_pipeline.quantities.sharing import shared
from storm_pipeline.quantities.values import Mention, as_part, number
from storm_pipeline.text.words import MARKER


def mentions(text: str, language: str) -> list[Mention]:
    """The quantities of a text in order, each with the ways to read it. Citation markers are not numbers of a text.

    Args:
        text: any text.
        language: ISO 639-1 code, or "" where it is not known.
    """
    plain = literals.plain_digits(MARKER.sub(lambda found: "\0" * len(found[0]), text))
    found: list[Mention] = []
    of_time = functools.partial(periods, language=language), functools.partial(dates, language=language)
    for find in (*of_time, _shares_of_cjk, _of_cjk):
        plain = _taken(find, plain, found)
    scanned = sorted(shared(list(Scanner(plain, language).mentions()), plain), key=lambda m: m.start)
    return sorted([*found, *scanned], key=lambda m: m.start)


def _taken(find: Callable[[str], Iterable[Mention]], plain: str, found: list[Mention]) -> str:
    """Adds what was found, and gives the text without it."""
    new, end, spans = sorted(find(plain), key=lambda m: (m.start, -m.end)), 0, []
    for mention in new:
        found.append(mention)
        if mention.end > end:
            spans.append((max(end, mention.start), mention.end))
            end = mention.end
    return blanked(plain, spans)


def _shares_of_cjk(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_SHARE.finditer(plain):
        yield Mention(*found.span(), as_part(literals.cjk_share(found)), "words")


def _of_cjk(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_NUMBER.finditer(plain):
        mention = Mention(*found.span(), (number(literals.cjk_value(found[0])),), "words")
        before = plain[max(0, mention.start - 2) : mention.start]
        yield replace(mention, readings=rounded(mention, plain, (*before, before)))

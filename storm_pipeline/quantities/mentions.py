"""Finding every number and date of a text. Linear in the text's length."""

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from storm_pipeline.quantities import literals
from storm_pipeline.quantities.elision import complete_elided
from storm_pipeline.quantities.months import blanked, dates
from storm_pipeline.quantities.periods import periods
from storm_pipeline.quantities.rounding import rounded
from storm_pipeline.quantities.scanning import Scanner
from storm_pipeline.quantities.values import Mention, fraction_readings, number
from storm_pipeline.text.words import MARKER


def mentions(text: str, language: str) -> list[Mention]:
    """The quantities of a text in order, each with its possible readings. Citation markers are ignored.

    Args:
        text: any text.
        language: ISO 639-1 code, or "" if unknown.
    """
    plain = literals.plain_digits(MARKER.sub(lambda found: "\0" * len(found[0]), text))
    found: list[Mention] = []
    time_finders = functools.partial(periods, language=language), functools.partial(dates, language=language)
    for find in (*time_finders, *((_cjk_shares, _cjk_numbers) if literals.CJK_NUMERAL.search(plain) else ())):
        plain = _extract(find, plain, found)
    scanned = sorted(complete_elided(list(Scanner(plain, language).mentions()), plain), key=lambda m: m.start)
    return sorted([*found, *scanned], key=lambda m: m.start)


def _extract(find: Callable[[str], Iterable[Mention]], plain: str, found: list[Mention]) -> str:
    """Append the mentions to ``found``, and return the text with them blanked."""
    new, end, spans = sorted(find(plain), key=lambda m: (m.start, -m.end)), 0, []
    for mention in new:
        found.append(mention)
        if mention.end > end:
            spans.append((max(end, mention.start), mention.end))
            end = mention.end
    return blanked(plain, spans)


def _cjk_shares(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_SHARE.finditer(plain):
        yield Mention(*found.span(), fraction_readings(literals.cjk_share(found)), "words")


def _cjk_numbers(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_NUMBER.finditer(plain):
        mention = Mention(*found.span(), (number(literals.cjk_value(found[0])),), "words")
        before = plain[max(0, mention.start - 2) : mention.start]
        yield replace(mention, readings=rounded(mention, plain, (*before, before)))

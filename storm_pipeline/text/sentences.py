"""Sentences of texts in any language. Linear in the text's length.

Stops in abbreviations (listed in ``sentences.toml``), ordinals, brackets and quotations do not end a sentence.
"""

import functools
import re
from collections.abc import Iterable, Iterator

from storm_pipeline.text.files import table_beside
from storm_pipeline.text.lexical import english_stop_words
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.words import has_word

_TABLE: dict[str, str] = table_beside(__file__)
_EVERYWHERE = _TABLE.pop("everywhere").split()
_ABBREVIATIONS = {language: frozenset([*_EVERYWHERE, *forms.split()]) for language, forms in _TABLE.items()}
_TITLES, _BEFORE_NUMBERS, _ORDINALS = (_TABLE[kind].split() for kind in ("titles", "before_numbers", "ordinals"))
_MARK = "\ue000"  # placeholder for a character of a citation marker
_FULL_WIDTH = "。！？｡"
_STOPS = f".!?…．؟۔।॥։።{_FULL_WIDTH}"
_CLOSING = "\"'”’»›)\\]}」』】》〉）］"
_HIDDEN = {ord(stop): 0xE100 + i for i, stop in enumerate(_STOPS)}
_SHOWN = {hidden: stop for stop, hidden in _HIDDEN.items()}
_PAIR = re.compile(
    rf"\([^()]{{1,300}}?([{_STOPS}]{{0,3}}\))|“[^“”]{{1,300}}?([{_STOPS}]{{0,3}}”)|「[^「」]{{1,300}}?([{_STOPS}]{{0,3}}」)"
    rf"|『[^『』]{{1,300}}?([{_STOPS}]{{0,3}}』)|«[^«»]{{1,300}}?([{_STOPS}]{{0,3}}[ \u00a0\u202f]?»)"
    rf"|(?<!\S)\"[^\"]{{1,300}}?([{_STOPS}]{{0,3}}(?<!\s)\")"
)
_BOUNDARY = re.compile(
    rf"(?<![{_STOPS}])(?P<stop>[{_STOPS}]++)"
    rf"(?P<closed>(?:[ \u00a0\u202f]?[»›”’)\]])*+(?:[{_CLOSING}*_]|[“«‹](?![^\s{_MARK}]))*+)"
    rf"(?P<gap>[\s{_MARK}]*+(?:(?<={_MARK})\.\s+)?)(?=\S)"
)
_NEXT = re.compile(r"[^\w\s]{0,4}([^\W_]{1,30})")
_REACH = 24  # characters searched for an abbreviation before a full stop
_TOKEN = re.compile(r"[^\s(\[{«„“\"'’‘—]*$")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_ORDINAL = re.compile(r"(?:\d{1,2}\.?[-–/])?\d{1,2}|[ivx]{1,5}")
_MAY_END = re.compile(r"\d\s?[гвr]$|т\.\s?[дп]$|(?<![\w.])[яèé]$")
"""Single letters that end sentences: "1999 г.", "и т. д.", "Это я."."""
_COMPLETE = re.compile(rf"[{_STOPS}](?:[{_CLOSING}“«‹*_{_MARK}]|[ \u00a0\u202f][»›])*$")
"""Ends of sentences in any language; German closes quotations with what opens them elsewhere."""
_AFTER_QUOTATION = ("って", "と")  # particles that continue the sentence after a Japanese quotation


def ordinals_have_stops(language: str) -> bool:
    """Return whether the language writes ordinals as "3."."""
    return language in _ORDINALS


def split_sentences(text: str, language: str = "en", names: Iterable[str] = ()) -> list[str]:
    """Split a text into its sentences, in order, each stripped; only white space between them is lost.

    Citation markers after a stop belong to the sentence before. A line end ends a sentence unless the next line starts
    in lower case. Ambiguous boundaries are not split. Idempotent on its output.

    Args:
        language: ISO 639-1 code; "" for an unknown language, which has no list of abbreviations.
        names: names that contain stops, such as "Who's Afraid of Virginia Woolf?", and are not split.
    """
    if hidden := _with_hidden_stops(text, names):
        return [piece.translate(_SHOWN) for piece in split_sentences(hidden, language)]
    masked = without_markers(text, _MARK)
    spans: list[tuple[int, int]] = []
    for line in _lines(masked):
        for start, end in _sentences_in(masked, *line, language):
            joins = spans and not has_word(masked[start:end])
            spans.append((spans.pop()[0] if joins else start, end))
    return [piece for start, end in spans if (piece := text[start:end].strip())]


@functools.lru_cache(maxsize=4096)  # the lines of a text are checked for every prompt that shows it
def is_complete(sentence: str) -> bool:
    """Return whether a sentence has a word, ends in a stop, not in "e.g." or "Dr.", and closes its brackets."""
    plain = without_markers(sentence).strip()
    is_closed = plain.count("(") + plain.count("（") <= plain.count(")") + plain.count("）")
    is_title = _token(plain[:-1][-_REACH:]) in _TITLES
    return is_closed and bool(_COMPLETE.search(plain)) and has_word(plain) and not is_title


def _with_hidden_stops(text: str, names: Iterable[str]) -> str:
    """Return the text with placeholders for the full stops in names; empty if there are none."""
    known = {form.strip() for name in names for form in (name, name.partition(" (")[0])}
    stopped = sorted((n for n in known if n != n.translate(_HIDDEN) and has_word(n)), key=len, reverse=True)
    if not stopped or text != text.translate(_SHOWN):
        return ""
    unmarked = without_markers(text, " ")

    def hide(name: re.Match[str]) -> str:
        behind = unmarked[name.end() : name.end() + _REACH].lstrip(f"{_CLOSING} \n“‘«„")
        kept = len(name[0].rstrip(_STOPS)) if not behind or behind[0].isupper() else len(name[0])
        return name[0][:kept].translate(_HIDDEN) + name[0][kept:]

    hidden = re.sub("|".join(map(re.escape, stopped)), hide, text, flags=re.I)
    return hidden if hidden != text else ""


def _lines(masked: str) -> Iterator[tuple[int, int]]:
    """Yield spans of lines, joined if the next one starts in lower case."""
    start = position = 0
    closed = True
    for line in masked.splitlines(keepends=True):
        following = _NEXT.match(line.replace(_MARK, " ").lstrip())
        if position > start and (closed or not (following and following[1][0].islower())):
            yield start, position
            start = position
        position += len(line)
        closed = not line.strip() or bool(_COMPLETE.search(line[-_REACH:].rstrip()))
    if position > start:
        yield start, position


def _sentences_in(masked: str, offset: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    line = _PAIR.sub(_with_stops_hidden_inside, masked[offset:end])
    start = checked = 0
    has_words = False
    for match in _BOUNDARY.finditer(line):
        has_words = has_words or has_word(line[checked : match.start()])
        checked = match.start()
        if has_words and _is_end(line, start, match, language):
            yield offset + start, offset + match.end()
            start = checked = match.end()
            has_words = False
    yield offset + start, end


def _with_stops_hidden_inside(pair: re.Match[str]) -> str:
    end = pair[pair.lastindex or 0]
    return pair[0].removesuffix(end).translate(_HIDDEN) + end


def _is_end(line: str, start: int, match: re.Match[str], language: str) -> bool:
    """Return whether the sentence that starts at ``start`` ends at this stop."""
    following = _NEXT.match(line, match.end())
    word = following[1] if following else ""
    if match["stop"][-1] in _FULL_WIDTH:
        return not word[:1].islower() and not (match["closed"] and line.startswith(_AFTER_QUOTATION, match.end()))
    if not match["gap"] or word[:1].islower():
        return False
    before = line[max(start, match.start() - _REACH) : match.start()]
    ends = _MARK in match["gap"] and word[:1].isupper()  # a cited abbreviation before a new sentence: "at 8 p.m.[3] It"
    return match["stop"] != "." or not _is_abbreviated(before, word, language, ends=ends)


def _is_abbreviated(before: str, following: str, language: str, *, ends: bool = False) -> bool:
    """Return whether a full stop belongs to the word before: "Dr.", an ordinal, and unless a sentence ends, "p.m."."""
    token = _token(before.rstrip(_MARK))
    is_list_number = len(token) <= 3 and token == before.strip(" (").casefold()
    is_ordinal = ordinals_have_stops(language) and _ORDINAL.fullmatch(token)
    precedes_number = following[:1].isdigit() or (len(following) > 1 and not following.strip("IVX"))
    if is_list_number or is_ordinal or token in _TITLES or (token in _BEFORE_NUMBERS and precedes_number):
        return True
    is_short = _LETTERS.fullmatch(token) or token in _ABBREVIATIONS.get(language, _EVERYWHERE)
    if not is_short or ends or _MAY_END.search(before.rstrip(_MARK)):
        return False
    # In English, a frequent first word of sentences after an abbreviation starts a new sentence.
    return language != "en" or len(following) == 1 or following.lower() not in english_stop_words()


def _token(text: str) -> str:
    """Return the text after the last white space or opening mark, in lower case."""
    return _TOKEN.search(text)[0].casefold()  # type: ignore[index]

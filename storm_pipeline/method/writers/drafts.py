"""Parses texts that a capable model wrote from numbered passages: headings, paragraphs, sentences, and replies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from storm_pipeline.evidence.citations import Claim, parse_marked
from storm_pipeline.text.languages import join_sentences, ordinals_have_stops
from storm_pipeline.text.markers import MARKS, mark, mark_citations, without_reserved
from storm_pipeline.text.quantities import month_names
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import EMPHASIS, folded_words, has_word, tidy

_HEADING = re.compile(r"(?:#{1,6} |={2,6} ?|<h[1-6][^<>]{0,40}> ?)(.+?)(?: #+| ?={2,6}| ?</h[1-6]>)?|\*\*([^*]+)\*\*:?")
_SET_APART = re.compile(r"(?:^|(?<=[.!?\]]))[^\S\n]*\\?(#{1,6})[^\S\n]+", re.M)
"""The beginning of a heading: at a line's start, its mark escaped or not, or behind a sentence on the same line."""
_UNDERLINED = re.compile(rf"^(?! |[#>*-])([^\n]{{1,100}}[^\s.!?:{mark(0)[-1]}])\n(?:={{3,}}|-{{3,}})[ \t]*$", re.M)
"""A heading above a line of ``===`` or ``---``."""
_BULLET = re.compile(r"^\s*(?:(?:[-*•·]|\d+[.)])\s+|\d+[、．]\s*)")
_SENTENCE_ENDS = frozenset(".!。！۔।")
_LONGEST_TITLE = 10  # maximum length of an emphasised title in words
_END = 300  # final characters of a line that show whether the next line continues it
_NUMBERED = re.compile(
    r"""
    [\s>*_\#(\[\-•]{0,6} (?:(?:remark|sentence)\s+)? \#? (\d{1,3})         # marks of a list, the number
    (?: [*_]{0,2} (?: \s?[.):\]：．、）】]{1,3}(?!\d) | \s[–—-]\s ) [*_]{0,2}[:：]? )  # a stop, a bracket, a dash
    \s* (.*)$                                                               # the reply
    """,
    re.I | re.X,
)
_OPENING_MARKER = re.compile(r"[\s>*_•\-]{0,6}\[\d+\](?![*_]{0,2}\s?[:：])")
_MOST_SENTENCES = 2  # of a reply to a remark, which asks for one
_QUOTATION_SEPARATOR = re.compile("[|｜]")


@dataclass(frozen=True)
class Block:
    """A heading (empty if there is none) and its paragraphs of claims."""

    heading: str
    paragraphs: tuple[tuple[Claim, ...], ...]


@dataclass(frozen=True)
class Draft:
    """A parsed reply."""

    blocks: tuple[Block, ...]  # in order; the first one has no heading
    invented: int  # number of markers that refer to no passage
    broken_off: str = ""  # an incomplete last sentence; empty if there is none
    names: tuple[str, ...] = ()  # names that contain full stops, used in parsing
    is_unmarked: bool = False  # whether the whole reply cites nothing, shown or not

    def claims(self) -> list[Claim]:
        """Return all sentences in order."""
        return [claim for block in self.blocks for paragraph in block.paragraphs for claim in paragraph]


def read_draft(text: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> Draft:
    """Read a reply with headings, paragraphs and ``[n]`` markers; an incomplete last sentence is left out.

    A line in bold type is a heading unless it is a sentence or cites something. A line of markers only belongs to the
    line before it, and so does a line in lower case that continues an unfinished sentence. ``names``: names that
    contain full stops, which are not split.
    """
    blocks: list[tuple[str, list[tuple[Claim, ...]]]] = [("", [])]
    invented = 0
    text = mark_citations(without_reserved(text), shown)
    for line in _lines(text):
        if heading := _heading(line):
            blocks.append((heading, []))
            continue
        claims, wrong = _claims_of(_without_bullet(line, language), shown, language, names)
        invented += wrong
        if claims:
            blocks[-1][1].append(claims)
    broken_off = ""
    last = next((paragraphs for _, paragraphs in reversed(blocks) if paragraphs), None)
    if last and not is_complete(last[-1][-1].text) and not _ends_in_marker(text):
        broken_off = last[-1][-1].text
        last[-1] = last[-1][:-1]
        if not last[-1]:
            last.pop()
    read = tuple(Block(heading, tuple(paragraphs)) for heading, paragraphs in blocks)
    return Draft(read, invented, broken_off, tuple(names), is_unmarked=not MARKS.search(text))


def without_prompt_lines(text: str, inputs: Mapping[str, object]) -> str:
    """Return a reply without lines that repeat its prompt: an input's name, its value, or a line of the value.

    Headings stay, and so do sentences that cite.

    ``inputs``: of the prompt, by name.
    """
    known = {""}
    for name, value in inputs.items():
        label = name.replace("_", " ").capitalize()
        known |= {_bare(line) for line in (label, f"{label}: {value}", *str(value).splitlines())}
    lines = text.splitlines(keepends=True)
    return "".join(
        line for line in lines if not (bare := _bare(line)) or _heading(line) or bare[-1] == "]" or bare not in known
    )


def _bare(line: str) -> str:
    return tidy(line).strip("#*_>-:` ").casefold()


def _lines(text: str) -> list[str]:
    """Return the lines of a reply that contain words, with continuation lines joined to them."""
    lines: list[list[str]] = []
    end = ""
    for line in _UNDERLINED.sub(r"## \1", _SET_APART.sub(r"\n\1 ", text)).splitlines():
        if lines and _is_continued(line, end):
            lines[-1].append(line)
            end = f"{end} {line}"[-_END:]
        elif has_word(line) and not line.startswith("```"):
            lines.append([line])
            end = line[-_END:]
    return [" ".join(pieces) for pieces in lines]


def _without_bullet(line: str, language: str) -> str:
    """Remove a line's list marker, but not from "1. September" in languages that mark ordinals with a full stop."""
    bare = _BULLET.sub("", line)
    first = bare.partition(" ")[0]
    return line if bare != line and ordinals_have_stops(language) and first in month_names(language) else bare


def _heading(line: str) -> str:
    """Return the line's text if it is a heading, else an empty string."""
    match = _HEADING.fullmatch(" ".join(line.split()))
    if not match or MARKS.search(line) or (match[2] and _ends_sentence(match[2])):
        return ""
    return EMPHASIS.sub(r"\2", match[1] or match[2]).strip(" :：*#")


def _ends_sentence(text: str) -> bool:
    """Return whether a full stop or an exclamation mark is behind a text's last letter or digit."""
    end = takewhile(lambda char: not char.isalnum(), reversed(text))
    return not _SENTENCE_ENDS.isdisjoint(end)


def _is_continued(line: str, before: str) -> bool:
    """Return whether a line continues the text before it: only markers, or lower case after an unfinished sentence."""
    is_finished = bool(_heading(before)) or is_complete(before) or _ends_in_marker(before)
    has_markers_alone = bool(MARKS.search(line)) and not has_word(MARKS.sub("", line))
    return has_markers_alone or (line[:1].islower() and not is_finished)


def _claims_of(line: str, shown: int, language: str, names: Sequence[str]) -> tuple[tuple[Claim, ...], int]:
    """Return the sentences of a line with the positions they cite, and the number of markers without a passage.

    Emphasis is removed, and emphasised text, such as a title, is not split.
    """
    titles = [match[2] for match in EMPHASIS.finditer(line) if len(match[2].split()) <= _LONGEST_TITLE]
    claims, invented = parse_marked(EMPHASIS.sub(r"\2", line), shown, language, (*names, *titles))
    return tuple(claim for claim in claims if has_word(claim.text)), invented


def _ends_in_marker(text: str) -> bool:
    """Return whether a text ends with a marker; citations come last, so its last sentence is then complete."""
    return text.rstrip("\n\r\t `*_|").endswith(mark(0)[-1])


@dataclass(frozen=True)
class RemarkReply:
    """The writer's reply to one remark."""

    claim: Claim | None  # the replacement sentence; None to delete it
    quotation: str = ""  # words of a passage quoted in support; may be empty


def read_replies(
    text: str, shown: int, language: str = "en", names: Sequence[str] = (), claims: Sequence[Claim] = ()
) -> dict[int, RemarkReply]:
    """Map the number of each remark to the reply to it; the last of several replies to one remark counts.

    A number may be bracketed, bold, preceded by "Remark", and followed by a dot, a colon or a dash. The sentence, its
    end, markers and quotation may be on the next lines. Other lines without a number are ignored, unless none has one,
    and there are as many as remarks. ``names``: names that contain full stops, which are not split. ``claims``: those
    that the remarks are on, in order; markers or a quotation alone are for that. A heading, or more sentences than two,
    as when a writer repeats its section, is not a reply to a remark.
    """
    replies: dict[int, RemarkReply] = {}
    for number, reply in _read_numbers(text, len(claims), shown):
        was = claims[number - 1] if 0 < number <= len(claims) else None
        if reply.strip() and (read := _reply(reply, shown, language, names, was)):
            replies[number] = read
    return replies


def _read_numbers(text: str, remarks: int, shown: int) -> list[tuple[int, str]]:
    """Return the numbers and marked replies; a line's first marker is its number if that is so in the first line."""
    replies: list[tuple[int, str]] = []
    text = without_reserved(text)
    first = next(filter(_NUMBERED.match, text.splitlines()), "")
    for line in text.splitlines():
        match = _NUMBERED.match(line)
        if match and (_OPENING_MARKER.match(first) or not _OPENING_MARKER.match(line)):
            replies.append((int(match[1]), mark_citations(match[2], shown)))
        elif replies:
            number, reply_text = replies[-1]
            more = mark_citations(line, shown)
            if not reply_text.strip() or _QUOTATION_SEPARATOR.match(line.lstrip()) or _is_continued(more, reply_text):
                replies[-1] = number, f"{reply_text} {more}"
    lines = [] if replies else _lines(mark_citations(text, shown))
    return replies or (list(enumerate(lines, 1)) if len(lines) == remarks else [])


def _reply(text: str, shown: int, language: str, names: Sequence[str], was: Claim | None) -> RemarkReply | None:
    sentence, *quotation = map(str.strip, _QUOTATION_SEPARATOR.split(text, maxsplit=1))
    if folded_words(sentence)[:1] == ["delete"]:  # as the prompt has it, with or without a reason
        return RemarkReply(None)
    if _heading(sentence):
        return None
    claims, _ = _claims_of(_without_bullet(sentence, language), shown, language, names)
    if not claims and was:
        claims, _ = _claims_of(f"{was.text} {sentence}", shown, language, names)
    cited = dict.fromkeys(position for claim in claims for position in claim.cited)
    if not 0 < len(claims) <= _MOST_SENTENCES:
        return None
    text = join_sentences([claim.text for claim in claims], language)
    claim = Claim(text, tuple(cited) or (was.cited if was else ()))
    return RemarkReply(claim, "".join(quotation))

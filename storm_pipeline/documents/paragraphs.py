"""Lines of pages as paragraphs, without the words that lines cut in two."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storm_pipeline.documents.pdf_layout import Line, grouped

_HYPHEN = re.compile(r"([^\W\d_]+)[-\u00ad\u2010]\n([a-zà-öø-ÿ][^\W\d_]*)")
_HYPHENATED = re.compile(r"[^\W\d_]+[-\u2010][^\W\d_]+(?!\n)")
_CLOSING = "\"'”’»)]"
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*(?=\s|$)")


@dataclass(frozen=True)
class Block:
    """Lines that stand together: a paragraph, a heading, a line of a title."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines, one below the other."""
        return "\n".join(line.text for line in self.lines)

    @property
    def size(self) -> float:
        """The largest size of type, in points."""
        return max(line.size for line in self.lines)

    @property
    def is_bold(self) -> bool:
        """Whether all of it is bold."""
        return all(line.is_bold for line in self.lines)


def blocks(lines: Sequence[Line]) -> list[Block]:
    """Lines in reading order as blocks: a new one where the type changes, or the gap or the indent says so."""
    return [Block(tuple(one)) for one in grouped(lines, _begins)]


def _begins(block: Sequence[Line], line: Line) -> bool:
    """Whether a line begins a new block after the lines of one."""
    last = block[-1]
    step = last.y - line.y
    if step < 0:  # the next column: the sentence may go on
        return _has_ended(last.text) or abs(line.size - last.size) > 0.08 * last.size
    usual = block[0].y - block[1].y if len(block) > 1 else 1.45 * last.size
    if step > 1.35 * max(usual, line.size) or abs(line.size - last.size) > 0.08 * last.size:
        return True
    if line.is_bold != last.is_bold and (last.is_bold or _has_ended(last.text)):
        return True
    indented = line.x0 > min(one.x0 for one in block) + 0.8 * line.size
    return bool(indented and len(block) > 1 and _has_ended(last.text))


def _has_ended(text: str) -> bool:
    return text.rstrip(_CLOSING)[-1:] in set(".!?…:;。！？")


def joined(text: str, whole: str) -> str:
    """A text without the hyphens at its lines' ends, but those of words that ``whole`` hyphenates elsewhere."""
    known = {found.replace("\u2010", "-").casefold() for found in _HYPHENATED.findall(whole)} if whole else set()

    def word(found: re.Match[str]) -> str:
        own = f"{found[1]}-{found[2]}"
        return own if own.casefold() in known else found[1] + found[2]

    return _HYPHEN.sub(word, text)


def page_texts(pages: Iterable[Sequence[Block]]) -> list[str]:
    """The text of each page; a sentence that a page break cuts stands whole on the page on which it begins."""
    texts = ["\n\n".join(block.text for block in page) for page in pages]
    whole = "\n".join(texts)
    for place in range(len(texts) - 1):
        before, after = texts[place].rstrip(), texts[place + 1]
        if not before or not after or _has_ended(before) or not after[0].islower():
            continue
        end = _SENTENCE_END.search(after.partition("\n\n")[0])
        if end:
            texts[place] = f"{before}\n{after[: end.end()]}"
            texts[place + 1] = after[end.end() :].lstrip()
    return [joined(text, whole) for text in texts]

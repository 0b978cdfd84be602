"""Reads and checks what a capable model wrote from numbered passages; unsupported sentences go back to it.

Nothing is cut silently. All unsupported sentences of a text go back to the writer once, in one request, each with
what is missing; only those still unsupported afterwards are dropped, and that is recorded.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from storm_pipeline.errors import ModelError
from storm_pipeline.languages import ordinals_have_stops, stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.quantities.months import month_names
from storm_pipeline.references.facts import recall
from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import MARKER, has_word
from storm_pipeline.types import Paragraph, Revision, Sentence
from storm_pipeline.writers.claims import (
    RemarkReply,
    claims_of,
    ends_in_marker,
    has_markers_alone,
    read_replies,
    without_emphasis,
)

_HEADING = re.compile(r"#{1,6} (.+?)(?: #+)?|\*\*([^*]+)\*\*:?")
_SET_APART = re.compile(r"(?:^|(?<=[.!?\]]))[^\S\n]*\\?(#{1,6})[^\S\n]+", re.M)
"""Where a heading begins: at a line's start, its mark escaped or not, or behind a sentence on the same line."""
_BULLET = re.compile(r"^\s*(?:(?:[-*•·]|\d+[.)])\s+|\d+[、．]\s*)")
_ENDS_SENTENCE = re.compile(r"[.!。！۔।]\W*$")
AskAgain = Callable[[str, Collection[int]], str]
"""Sends remarks and the passages at these positions to the writer; returns the reply or raises ModelError."""
_ALIKE = 0.8  # minimum share of a sentence's words in an accepted one that says the same
_END = 300  # trailing characters of a line that decide whether the next line continues it


@dataclass(frozen=True)
class Block:
    """A heading (empty if there is none) and its paragraphs of claims."""

    heading: str
    paragraphs: tuple[tuple[Claim, ...], ...]


@dataclass(frozen=True)
class CheckedBlock:
    """A heading and its paragraphs of accepted sentences."""

    heading: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Draft:
    """A parsed reply."""

    blocks: tuple[Block, ...]  # in order; the first one has no heading
    invented: int  # number of markers that refer to no passage
    broken_off: str = ""  # an incomplete last sentence; empty if there is none
    names: tuple[str, ...] = ()  # names that contain full stops, used in parsing

    def claims(self) -> list[Claim]:
        """All sentences in order."""
        return [claim for block in self.blocks for paragraph in block.paragraphs for claim in paragraph]


def read_draft(text: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> Draft:
    """Read a reply with headings, paragraphs and ``[n]`` markers; an incomplete last sentence is left out.

    A line in bold type is a heading unless it is a sentence or cites something. A line of markers only belongs to the
    line before it, and so does a line in lower case that continues an unfinished sentence. ``names``: names that
    contain full stops, which are not split.
    """
    blocks: list[tuple[str, list[tuple[Claim, ...]]]] = [("", [])]
    invented = 0
    for line in _lines(text):
        if heading := _heading(line):
            blocks.append((heading, []))
            continue
        claims, wrong = claims_of(_without_bullet(line, language), shown, language, names)
        invented += wrong
        if claims:
            blocks[-1][1].append(claims)
    broken_off = ""
    last = next((paragraphs for _, paragraphs in reversed(blocks) if paragraphs), None)
    if last and not is_complete(last[-1][-1].text) and not ends_in_marker(text):
        broken_off = last[-1][-1].text
        last[-1] = last[-1][:-1]
        if not last[-1]:
            last.pop()
    read = tuple(Block(heading, tuple(paragraphs)) for heading, paragraphs in blocks)
    return Draft(read, invented, broken_off, tuple(names))


def checked_blocks(
    ctx: RunContext,
    where: str,
    draft: Draft,
    grounding: Grounding,
    ask_again: AskAgain,
    *,
    accepted: Iterable[Sentence] = (),
) -> list[CheckedBlock]:
    """The draft's blocks with the accepted sentences, after at most one round of remarks to the writer.

    If the settings say ``unchecked``, all sentences stay as they were written.

    Args:
        where: name of the text in the record.
        accepted: sentences of an earlier version of the text; repeated in hardly other words, they keep their citations
            rather than going back to the writer again.
    """
    ctx.events.count(invented_citations=draft.invented, dropped_faulty=int(bool(draft.broken_off)))
    if draft.broken_off:
        ctx.events.revised(Revision(where, draft.broken_off, "the text breaks off in it", "dropped"))
    sentences = iter(_Review(ctx, where, grounding, draft.names, tuple(accepted)).of(draft.claims(), ask_again))
    blocks = []
    for block in draft.blocks:
        paragraphs = [tuple(s for _ in claims if (s := next(sentences)) is not None) for claims in block.paragraphs]
        blocks.append(CheckedBlock(block.heading, tuple(Paragraph(kept) for kept in paragraphs if kept)))
    return blocks


@dataclass(frozen=True)
class _Review:
    """Decides whether each sentence of a text is kept, replaced or dropped, and records the decision."""

    ctx: RunContext
    where: str
    grounding: Grounding
    names: Sequence[str]
    accepted: Sequence[Sentence]

    def of(self, claims: Sequence[Claim], ask_again: AskAgain) -> list[Sentence | None]:
        """The final form of each sentence; None where it is dropped."""
        if self.ctx.settings.uncited == "unchecked":
            return list(map(self.grounding.as_written, claims))
        judged = [self._unless_accepted(verdict) for verdict in self.grounding.judge(claims)]
        for claim, verdict in zip(claims, judged, strict=True):
            if verdict.change and not verdict.problem:
                self._record(claim, verdict.change, "citations", verdict.sentence.text)
                self.ctx.events.count(attributed=int(not claim.cited))
        sentences: list[Sentence | None] = [verdict.sentence for verdict in judged]
        faulty = [i for i, verdict in enumerate(judged) if verdict.problem]
        if not faulty:
            return sentences
        remarks = "\n".join(f"{n}. {_marked(claims[i])} — {judged[i].problem}." for n, i in enumerate(faulty, 1))
        try:
            language = self.ctx.settings.article_language
            concerned = {position for i in faulty for position in self.grounding.concerned(claims[i], judged[i])}
            answers = read_replies(ask_again(remarks, concerned), len(self.grounding.shown), language, self.names)
        except ModelError as error:
            self.ctx.events.failed(f"revision of {self.where}", error)
            answers = {}
        for n, i in enumerate(faulty, 1):
            sentences[i] = self._decided(claims[i], judged[i], answers.get(n))
        return sentences

    def _unless_accepted(self, verdict: Judged) -> Judged:
        """The verdict; a problem with what was accepted before, in hardly other words, is ignored."""
        before = self._accepted_before(verdict.sentence.text) if verdict.problem else None
        return verdict if before is None else Judged(Sentence(verdict.sentence.text, before.citations))

    def _accepted_before(self, text: str) -> Sentence | None:
        """The earlier sentence that has nearly all words of a text, and all its numbers and dates."""
        language = self.ctx.settings.article_language
        wanted = stem_set(text, language)
        near = (s for s in self.accepted if recall(wanted, stem_set(s.text, language)) >= _ALIKE)
        return next((s for s in near if not missing(text, [s.text], language=language)), None)

    def _decided(self, claim: Claim, verdict: Judged, answer: RemarkReply | None) -> Sentence | None:
        """The final form of a sentence with a remark; ``answer`` is None if the writer did not reply to the remark."""
        if answer is not None and answer.claim is None:
            self.ctx.events.count(dropped_unsupported=1)
            self._record(claim, verdict.problem, "deleted by the writer")
            return None
        second = self._second(answer) if answer else verdict
        if verdict.is_only_copied and second.problem and not second.is_only_copied:
            second = verdict  # the original was supported, the replacement is not
        if not second.problem or second.is_only_copied:
            outcome = "rewritten" if answer and second.sentence.text != claim.text else "kept"
            self.ctx.events.count(reworded=int(outcome == "rewritten"))
            self._record(claim, verdict.problem, outcome, second.sentence.text)
            return second.sentence
        if completed := second.completed or verdict.completed:
            self._record(claim, verdict.problem, "citations", completed.text)
            return completed
        if self.ctx.settings.uncited == "keep":
            self._record(claim, verdict.problem, "kept without a source", claim.text)
            return Sentence(claim.text)
        self.ctx.events.count(dropped_unsupported=1)
        self._record(claim, verdict.problem, "dropped")
        return None

    def _second(self, answer: RemarkReply) -> Judged:
        """The verdict on a reply; a quotation found in a passage overrides a negative one."""
        assert answer.claim is not None  # noqa: S101
        (judged,) = self.grounding.judge([answer.claim])
        if not judged.problem or judged.is_only_copied:
            return judged
        return self.grounding.by_quotation(answer.claim, answer.quotation) or judged

    def _record(self, claim: Claim, reason: str, outcome: str, after: str = "") -> None:
        self.ctx.events.revised(Revision(self.where, claim.text, reason, outcome, after))


def _lines(text: str) -> list[str]:
    """The lines of a reply that contain words, with continuation lines joined to them."""
    lines: list[list[str]] = []
    end = ""
    for line in _SET_APART.sub(r"\n\1 ", text).splitlines():
        if lines and (has_markers_alone(line) or (line[:1].islower() and not _is_finished(end))):
            lines[-1].append(line)
            end = f"{end} {line}"[-_END:]
        elif has_word(line) and not line.startswith("```"):
            lines.append([line])
            end = line[-_END:]
    return [" ".join(pieces) for pieces in lines]


def _without_bullet(line: str, language: str) -> str:
    """A line without its list marker; "1. September" is a date in languages that mark ordinals with a full stop."""
    bare = _BULLET.sub("", line)
    first = bare.partition(" ")[0]
    is_date = bare != line and ordinals_have_stops(language) and first in month_names(language)
    return line if is_date else bare


def _heading(line: str) -> str:
    """The line's text if it is a heading, else an empty string."""
    found = _HEADING.fullmatch(" ".join(line.split()))
    if not found or MARKER.search(line) or (found[2] and _ENDS_SENTENCE.search(found[2])):
        return ""
    return without_emphasis(found[1] or found[2]).strip(" :：*#")


def _is_finished(line: str) -> bool:
    return bool(_heading(line)) or is_complete(line) or ends_in_marker(line)


def _marked(claim: Claim) -> str:
    return claim.text + "".join(f"[{position + 1}]" for position in claim.cited)

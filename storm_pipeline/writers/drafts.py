"""What a capable model wrote from numbered passages: read, checked, and handed back where it lacks support.

Nothing is cut in silence. What the check cannot find goes back to the writer once, all of a text's at once, each
sentence with what is missing; only what comes back without support again is dropped, and that is recorded.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.sentences import is_complete
from storm_pipeline.types import Citation, Paragraph, Revision, Sentence

_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*:?)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_EMPHASIS = re.compile(r"(\*\*|__|\*)(\S(?:.*?\S)?)\1")
_ANSWER = re.compile(r"^\W{0,3}(\d{1,3})\s*[.):]+\s*(.+)$")
_DELETE = re.compile(r"^\W*(?:delete|deleted|drop|remove)\b\W*$", re.I)
AskAgain = Callable[[str], str]
"""Remarks on a draft → the writer's reply to them; raises ModelError."""


@dataclass(frozen=True)
class Block:
    """A heading, empty where there is none, and the paragraphs under it, each of claims."""

    heading: str
    paragraphs: tuple[tuple[Claim, ...], ...]


@dataclass(frozen=True)
class CheckedBlock:
    """A heading, and the paragraphs under it, each of sentences that stand."""

    heading: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Draft:
    """A text as its writer gave it.

    Attributes:
        blocks: in order; the first one has no heading.
        invented: numbers that point at nothing shown.
        broken_off: sentences left out because the reply ends within them.
    """

    blocks: tuple[Block, ...]
    invented: int
    broken_off: int = 0

    def claims(self) -> list[Claim]:
        """All sentences in order."""
        return [claim for block in self.blocks for paragraph in block.paragraphs for claim in paragraph]


def read_draft(text: str, shown: int) -> Draft:
    """Read a reply with headings, paragraphs and ``[n]`` markers; what breaks off at the end is left out.

    Args:
        text: the reply.
        shown: how many passages were numbered.
    """
    blocks: list[tuple[str, list[tuple[Claim, ...]]]] = [("", [])]
    invented = 0
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            blocks.append(((heading[1] or heading[2]).strip(" :*"), []))
            continue
        claims, wrong = _claims(_EMPHASIS.sub(r"\2", _BULLET.sub("", line)), shown)
        invented += wrong
        if claims:
            blocks[-1][1].append(claims)
    last = next((paragraphs for _, paragraphs in reversed(blocks) if paragraphs), None)
    broken_off = last is not None and not is_complete(last[-1][-1].text)
    if last and broken_off:
        last[-1] = last[-1][:-1]
        if not last[-1]:
            last.pop()
    return Draft(tuple(Block(heading, tuple(paragraphs)) for heading, paragraphs in blocks), invented, int(broken_off))


def checked_blocks(
    ctx: RunContext, where: str, draft: Draft, grounding: Grounding, ask_again: AskAgain
) -> list[CheckedBlock]:
    """The draft's blocks with the sentences that stand, after one round of remarks to the writer.

    Args:
        ctx: the run, which is told what was revised.
        where: names the text for the record.
        draft: what was written.
        grounding: judges sentences.
        ask_again: hands remarks to the writer.
    """
    ctx.events.count(invented_citations=draft.invented, dropped_faulty=draft.broken_off)
    sentences = iter(_Review(ctx, where, grounding).of(draft.claims(), ask_again))
    blocks = []
    for block in draft.blocks:
        paragraphs = [tuple(s for _ in claims if (s := next(sentences)) is not None) for claims in block.paragraphs]
        blocks.append(CheckedBlock(block.heading, tuple(Paragraph(own) for own in paragraphs if own)))
    return blocks


@dataclass(frozen=True)
class _Review:
    """Decides what becomes of each sentence of a text, and records it."""

    ctx: RunContext
    where: str
    grounding: Grounding

    def of(self, claims: Sequence[Claim], ask_again: AskAgain) -> list[Sentence | None]:
        """Each sentence as it stands at last; None where it is dropped."""
        judged = self.grounding.judge(claims)
        for claim, verdict in zip(claims, judged, strict=True):
            if verdict.change and not verdict.problem:
                self._record(claim, verdict.change, "citations", verdict.sentence.text)
                self.ctx.events.count(attributed=int(not claim.cited))
        sentences: list[Sentence | None] = [verdict.sentence for verdict in judged]
        due = [i for i, verdict in enumerate(judged) if verdict.problem]
        if not due:
            return sentences
        remarks = "\n".join(f"{n}. {_marked(claims[i])} — {judged[i].problem}." for n, i in enumerate(due, 1))
        try:
            answers = _answers(ask_again(remarks), len(self.grounding.shown))
        except ModelError as error:
            self.ctx.events.failed(f"revision of {self.where}", error)
            answers = {}
        for n, i in enumerate(due, 1):
            sentences[i] = self._decided(claims[i], judged[i], answers.get(n))
        return sentences

    def _decided(self, claim: Claim, verdict: Judged, answer: "_Reply | None") -> Sentence | None:
        """What becomes of a sentence that was handed back; ``answer`` is None where the writer said nothing of it."""
        if answer is not None and answer.claim is None:
            self.ctx.events.count(dropped_unsupported=1)
            self._record(claim, verdict.problem, "deleted by the writer")
            return None
        second = self._second(answer) if answer else verdict
        if not second.problem or second.is_only_copied:
            outcome = "rewritten" if answer and second.sentence.text != claim.text else "kept"
            self.ctx.events.count(reworded=int(outcome == "rewritten"))
            self._record(claim, verdict.problem, outcome, second.sentence.text)
            return second.sentence
        if self.ctx.settings.uncited == "keep":
            self._record(claim, verdict.problem, "kept without a source", claim.text)
            return Sentence(claim.text)
        self.ctx.events.count(dropped_unsupported=1)
        self._record(claim, verdict.problem, "dropped")
        return None

    def _second(self, answer: "_Reply") -> Judged:
        """The judgement of what came back, which a quotation can turn."""
        assert answer.claim is not None  # noqa: S101
        (judged,) = self.grounding.judge([answer.claim])
        if not judged.problem or judged.is_only_copied:
            return judged
        return self.grounding.by_quotation(answer.claim, answer.quotation) or judged

    def _record(self, claim: Claim, reason: str, outcome: str, after: str = "") -> None:
        self.ctx.events.revised(Revision(self.where, claim.text, reason, outcome, after))


def _claims(line: str, shown: int) -> tuple[tuple[Claim, ...], int]:
    """The sentences of a line with the positions they cite, and how many numbers point at nothing."""
    cited = parse_cited(line, [Citation(str(position), "") for position in range(shown)])
    claims = tuple(Claim(s.text, tuple(int(c.source_id) for c in s.citations)) for s in cited.sentences)
    return claims, cited.invented


@dataclass(frozen=True)
class _Reply:
    """The writer's reply to one remark: the sentence in its place (None to delete it), and what it quotes for it."""

    claim: Claim | None
    quotation: str = ""


def _answers(reply: str, shown: int) -> dict[int, _Reply]:
    """Number of a remark → the reply to it. A line is ``3: sentence [2] | "words of the passage"`` or ``3: delete``."""
    answers: dict[int, _Reply] = {}
    for line in reply.splitlines():
        found = _ANSWER.match(line)
        if not found:
            continue
        text, _, quotation = found[2].partition(" | ")
        claims, _ = _claims(_EMPHASIS.sub(r"\2", text), shown)
        deleted = _DELETE.match(text) or not claims
        cited = tuple(dict.fromkeys(position for claim in claims for position in claim.cited))
        whole = Claim(" ".join(claim.text for claim in claims), cited)
        answers[int(found[1])] = _Reply(None) if deleted else _Reply(whole, quotation)
    return answers


def _marked(claim: Claim) -> str:
    return claim.text + "".join(f"[{position + 1}]" for position in claim.cited)

"""CONNER's intrinsic perspectives over the sections and the interview answers of an article (Chen et al. 2023)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storm_bench.conner.evidence_source import Bm25Evidence, EvidenceOver
from storm_bench.conner.named_models import Models
from storm_bench.conner.scoring import INTRINSIC, Scores, intrinsic_scores
from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.sections import all_sections
from storm_bench.types import Case
from storm_pipeline import Article

_PARTS = ("section", "answer")


MEASURES = tuple(Measure(f"conner_{part}_{score}") for part in _PARTS for score in INTRINSIC)


@dataclass(frozen=True)
class KnowledgePiece:
    """Knowledge of an article: the text of a section or of an expert's answer, and what it is to answer."""

    part: str
    query: str
    text: str


def conner(models: Models, evidence: EvidenceOver = Bm25Evidence) -> CaseMetric:
    """Ten means: five intrinsic scores over the sections with text, and the same over the interview's answers.

    ``conner_section_fact_consistent`` is eq. 1 by ``min``, then eq. 2 to 5 follow; all are in [0, 1]. The query of a
    section is the article's title and the headings that lead to it, that of an answer its question. Evidence are the
    snippets that the research found, the three best a sentence. None where there is no section, or no answer.

    Departures: the knowledge is written from the very snippets that it is checked against, so factuality says how far
    it keeps to them. There is no downstream task, so helpfulness and validity are left out.
    """

    def score(case: Case) -> Score:
        found: dict[str, list[Scores]] = {part: [] for part in _PARTS}
        searched = evidence([snippet for source in case.article.sources for snippet in source.snippets])
        for piece in pieces(case.article):
            prompt = f"Knowledge from an encyclopedia on: {piece.query}\n"
            found[piece.part].append(intrinsic_scores(piece.query, prompt, piece.text, searched, models))
        return {f"conner_{part}_{name}": _mean(found[part], name) for part in _PARTS for name in INTRINSIC}

    return CaseMetric(
        "conner",
        MEASURES,
        "Chen et al. 2023 (CONNER), section 3.3",
        score,
        {
            "inference": models.inference.name,
            "evidence": evidence(()).name,
            "matching": models.matching.name,
            "discourse": models.discourse.name,
            "language model": models.lm.name,
        },
    )


def pieces(article: Article) -> Iterator[KnowledgePiece]:
    """The sections and subsections with text of their own, in reading order, then the answers of the interviews."""
    for path, section in all_sections(article):
        text = " ".join(sentence.text for paragraph in section.paragraphs for sentence in paragraph.sentences)
        if text.strip():
            yield KnowledgePiece("section", ": ".join((article.title, *path)), text)
    for conversation in article.conversations:
        for turn in conversation.turns:
            if turn.answer:
                yield KnowledgePiece("answer", turn.question, turn.answer_text)


def _mean(scores: Sequence[Scores], name: str) -> float | None:
    known = [value for one in scores if (value := one[name]) is not None]
    return sum(known) / len(known) if known else None

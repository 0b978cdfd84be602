"""The screen as a judge: it compares words and digits, reads nothing for support, and calls nothing supported."""

from collections.abc import Sequence

from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.judges.base import Finding, Question, Verdict
from storm_pipeline.evidence.judges.spans import lacking
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval.embedder import Embedder
from storm_pipeline.evidence.screen import Limits, Screen
from storm_pipeline.text.languages import detect
from storm_pipeline.types import Snippet


class ScreenJudge:
    """The screen of drafts for sentences of any article; a passage of another question may fit a sentence better."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self.name = embedder, f"screen:{embedder.name}"

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Return the findings on the questions, without spans."""
        texts = list(dict.fromkeys(text for question in questions for text in question.passages))
        passages = [Passage(text, (Snippet(f"passage:{i}", "", text),)) for i, text in enumerate(texts)]
        by_id = {passage.snippets[0].id: passage.text for passage in passages}
        language = detect("\n".join(question.claim for question in questions)) or "en"
        foreign = {text for text in texts if detect(text) not in {"", language}}
        screen = Screen(passages, known="", embed=self._embedder.embed, language=language, limits=Limits(run=0))
        positions = {text: i for i, text in enumerate(texts)}
        claims = [Claim(question.claim, tuple(positions[text] for text in question.passages)) for question in questions]
        findings: list[Verdict] = []
        for question, judged in zip(questions, screen.judge(claims), strict=True):
            cited = {by_id[citation.snippet_id] for citation in judged.sentence.citations}
            better = next(iter(cited.difference(question.passages)), "")
            finding: Finding = "another source fits better" if better else "on topic"
            if judged.problem:
                finding = "digits not found" if judged.unfound else "not found"
            elif not better and foreign.issuperset(question.passages):
                finding = "another language"
            findings.append(Verdict(finding, 0.0, reason=lacking(question) if judged.unfound else "", better=better))
        return findings

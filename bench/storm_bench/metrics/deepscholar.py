"""Reference coverage, citation precision and claim coverage as DeepScholar-Bench defines them.

Its nugget coverage is that of the human article's statements, which are the nuggets (:mod:`.statement_coverage`,
:mod:`.statements_lm`).
"""

import math
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import mean

from storm_bench.judges.base import Pair, scores_of, supported_by
from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.sections import all_paragraphs
from storm_bench.types import Case, TopicDocument
from storm_pipeline import Article
from storm_pipeline.api import folded_words
from storm_pipeline.evidence.judges.base import CachingJudge, Judge
from storm_pipeline.types import Source

_COVERAGE, _CITED, _PRECISION, _CLAIMS = (
    f"{name}_deepscholar" for name in ("reference_coverage", "references_cited", "citation_precision", "claim_coverage")
)
_FEWEST_CHARACTERS = 50
_ALIKE = 0.8
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5})", re.I)
MEASURES = (Measure(_COVERAGE), Measure(_CITED, high=math.inf, better="neither"), Measure(_PRECISION), Measure(_CLAIMS))


def deepscholar(judge: Judge, *, window: int = 1) -> CaseMetric:
    """Return how much of what the paper cites an article cites, and how far the works that it cites support it.

    - ``reference_coverage_deepscholar``: of the works on arXiv that the paper's own related work cites, the share that
      the article cites, by arXiv id or title (similarity over 0.8). None without such works.
    - ``references_cited_deepscholar``: number of works that the article cites.
    - ``citation_precision_deepscholar``: mean over the sentences of the share of their citations that support them
      alone, by title and abstract; 0 for a sentence without citations.
    - ``claim_coverage_deepscholar``: share of the sentences that the works cited in a window around them, the sentence
      before and the one after, support together with the paper's own title and abstract.

    Sentences under 50 characters do not count; the last two are None without others. Departures: reference coverage is
    over all works on arXiv, where the authors keep those that a language model calls essential, a file that is not
    published; a work's text is what the search gave of it.

    Args:
        judge: decides whether works support a sentence.
        window: sentences before and after, >= 0; at 0 as the authors' code counts, which reads a sentence's own
            citations only.
    """
    cached = CachingJudge.of(judge)

    def score(case: Case) -> Score:
        cited = case.article.references
        wanted = [work for work in case.topic.human.references if _ARXIV.search(work.url)]
        judged = _judged(cached, case, window)
        return {
            _COVERAGE: mean(any(_same(work, own) for own in cited) for work in wanted) if wanted else None,
            _CITED: len(cited),
            _PRECISION: mean(precise for precise, _ in judged) if judged else None,
            _CLAIMS: mean(supported for _, supported in judged) if judged else None,
        }

    return CaseMetric(
        "deepscholar",
        MEASURES,
        "Patel et al. 2025 (DeepScholar-Bench, arXiv 2508.20033), section 4",
        score,
        {"judge": judge.name, **judge.parameters, "window": window},
        (("judge", MEASURES[2:]),),
    )


def _judged(judge: CachingJudge, case: Case, window: int) -> list[tuple[float, bool]]:
    """Return for each counted sentence, the share of its citations that support it, and whether its window does."""
    sentences = _sentences(case.article)
    paper = f"{case.topic.title}\n{case.topic.about}"
    alone, together = [], []
    for place, (text, works) in enumerate(sentences):
        near = sentences[max(0, place - window) : place + window + 1]
        cited = dict.fromkeys(work for _, own in near for work in own)
        alone.append([Pair(work, text) for work in works])
        together.append([Pair("\n".join([*cited, paper]), text)] if cited else [])
    counted = [i for i, (text, _) in enumerate(sentences) if len(text) >= _FEWEST_CHARACTERS]
    scores_of(judge, [pair for i in counted for pair in (*alone[i], *together[i])])  # in one batch
    return [(_share(judge, alone[i]), _share(judge, together[i]) == 1) for i in counted]


def _share(judge: CachingJudge, pairs: Sequence[Pair]) -> float:
    return mean(map(float, supported_by(judge, pairs))) if pairs else 0.0


def _sentences(article: Article) -> list[tuple[str, list[str]]]:
    """Return the sentences, each with the texts of the works that it cites, title first."""
    texts = {
        source.id: "\n".join(dict.fromkeys([source.title, *(snippet.text for snippet in source.snippets)]))
        for source in article.sources
    }
    sentences = (sentence for paragraph in all_paragraphs(article) for sentence in paragraph.sentences)
    return [(s.text, [texts[i] for i in dict.fromkeys(c.source_id for c in s.citations)]) for s in sentences]


def _same(work: TopicDocument, cited: Source) -> bool:
    """Return whether a cited page is this work."""
    wanted, found = _ARXIV.search(work.url), _ARXIV.search(cited.url)
    if wanted and found and wanted[1] == found[1]:
        return True
    return SequenceMatcher(None, _folded(work.title), _folded(cited.title)).ratio() > _ALIKE


def _folded(title: str) -> str:
    return " ".join(word for word in folded_words(title) if len(word) > 2)

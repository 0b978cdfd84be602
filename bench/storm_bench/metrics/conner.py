"""CONNER (Chen et al. 2023): six perspectives on acquired knowledge, four of whose scores are a metric of articles."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from storm_bench.judges.base import Pair, ScoringJudge, scores_of
from storm_bench.judges.pretrained import CausalModel
from storm_bench.metrics.base import CaseMetric, Measure, Parameters, Score
from storm_bench.sections import all_sections
from storm_bench.types import Case
from storm_pipeline import Article, SettingsError
from storm_pipeline.api import EMBEDDED_MODELS, LexicalIndex, fetch, split_sentences
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.evidence.retrieval.embedder import Embedder

EVIDENCE = 3
"""Passages that a sentence is checked against."""
_PARTS = ("section", "answer")
_SCORES = ("fact_consistent", "relevance", "coherence_sentence", "informativeness")
MEASURES = tuple(Measure(f"conner_{part}_{score}") for part in _PARTS for score in _SCORES)

Matching = Callable[[str, str], float]
"""How well knowledge matches a query, in [0, 1]."""
Discourse = Callable[[Sequence[str]], float]
"""How well one sentence or more hang together in their order, in [0, 1]."""
LogProbabilities = Callable[[str, str], Sequence[float]]
"""From a context and a text to ln P(token | context, tokens before) of the text's tokens; none for an empty text."""


def factuality(sentences: Sequence[tuple[str, Sequence[str]]], inference: ScoringJudge) -> float | None:
    """Eq. 1, factual-consistent: min over sentences of max over their evidence of NLI(s_i, e_ij), in [0, 1].

    ``sentences``: each with its evidence. A sentence without evidence, which the equation leaves open, scores 0; None
    for no sentence.
    """
    pairs = [Pair(passage, sentence) for sentence, evidence in sentences for passage in evidence]
    scores = iter(scores_of(inference, pairs))
    return min((max((next(scores) for _ in evidence), default=0.0) for _, evidence in sentences), default=None)


def relevance(query: str, knowledge: str, matching: Matching) -> float | None:
    """Eq. 2: S_rel(k, q) = Matching(k, q), in [0, 1]; None for empty knowledge."""
    return matching(query, knowledge) if knowledge.strip() else None


def sentence_coherence(sentences: Sequence[str], lm: LogProbabilities) -> float | None:
    """Eq. 3: mean over sentences of 1 / PPL(s_i), in [0, 1]; None where no sentence has a token.

    The paper's released code instead takes one over the mean of the perplexities, each bounded above.
    """
    found = [_mean(lm("", sentence)) for sentence in sentences]
    return _mean([math.exp(value) for value in found if value is not None])


def paragraph_coherence(sentences: Sequence[str], discourse: Discourse) -> float | None:
    """Eq. 4: S_coh_para(k) = Scorer_para(s_1, ..., s_m), in [0, 1]; None for no sentence.

    The equation speaks of a "normalized score" without saying how.
    """
    return discourse(sentences) if sentences else None


def informativeness(prompt: str, knowledge: str, lm: LogProbabilities) -> float | None:
    """Eq. 5: 1 - exp(mean over tokens of ln P(k_t | k_<t, q)), in [0, 1]; None where k has no token.

    ``prompt`` precedes the knowledge: the query as a zero-shot request.
    """
    found = _mean(lm(prompt, knowledge))
    return None if found is None else 1 - math.exp(found)


def answer_loss(prompt: str, answer: str, lm: LogProbabilities) -> float | None:
    """L(q, k, a) = -mean over the answer's tokens of ln P(a_t | a_<t, prompt), in nats; None for no token.

    ``prompt`` holds query and knowledge in the wording of the downstream task; ``answer`` is the true one.
    """
    found = _mean(lm(prompt, answer))
    return None if found is None else -found


def helpfulness(loss: float, random_losses: Sequence[float]) -> float | None:
    """Eq. 6: max(0, 1 - L(q, k, a) / mean of L(q, k_i-, a)), in [0, 1].

    None without ``random_losses``, those with irrelevant knowledge, or where the answer is certain with all of them.
    The second line of eq. 6 divides by their sum, where the first divides by their mean; this is the first.
    """
    baseline = _mean(random_losses)
    return max(0.0, 1 - loss / baseline) if baseline else None


def span_validity(query: str, truth: str, answer: str, inference: ScoringJudge) -> float:
    """Eq. 7: NLI_fact((q, a), (q, a*)), the true answer being the premise, in [0, 1]; 0 for an empty answer."""
    question = f"{query.strip().removesuffix('?')}?"
    premise = [f"{question} {truth.strip()}"] if answer.strip() else []
    return open_validity(f"{question} {answer.strip()}", premise, inference)


def open_validity(answer: str, evidence: Sequence[str], inference: ScoringJudge) -> float:
    """Eq. 8: max over evidence of NLI_fact(a, e_i), in [0, 1]; 0 without evidence or answer."""
    return factuality([(answer, evidence)], inference) or 0.0


@dataclass(frozen=True)
class ConnerModels:
    """The models of the perspectives, and their names."""

    inference: ScoringJudge
    matching: Matching
    lm: LogProbabilities
    names: Parameters


def open_models(
    given: Mapping[str, str], inference: Callable[[str], ScoringJudge], embedder: Embedder, cache: Path
) -> ConnerModels:
    """Open CONNER's models, each loaded when it is first asked.

    ``given``: ``inference``: a judge that asks no language model (default: ``screen``); ``matching``: ``cosine`` (the
    default), or ``ranker:`` and the folder or hub name of a cross-encoder; ``lm``: an embedded model (default: the
    smallest), a ``.gguf`` file, a folder or a hub name. ``inference``: opens a judge by name; ``embedder``: of cosines,
    negative ones counted as 0. Raises SettingsError: a name is unknown; AssetError: a pinned model is absent and cannot
    be fetched.
    """
    names = {"inference": "screen", "matching": "cosine", "lm": "embedded:0.5b"}
    kind, _, ranker = given.get("matching", "cosine").partition(":")
    if (unknown := given.keys() - names.keys()) or given.get("inference", "").startswith("lm:"):
        raise SettingsError(
            f"CONNER has no model {min(unknown, default='lm:… for inference')!r}: see docs/lab/conner.md"
        )
    if (kind, bool(ranker)) not in {("cosine", False), ("ranker", True)}:
        raise SettingsError(f"there is no ranker {given['matching']!r}: write cosine, or ranker:FOLDER-OR-NAME")
    names |= given
    hub = cache / "models" / "hub"
    asset = EMBEDDED_MODELS.get(names["lm"])
    lm = CausalModel(fetch(asset, cache) if asset else names["lm"], cache=hub)
    judge, cross_encoder = inference(names["inference"]), CrossEncoderJudge(ranker, cache=hub)

    def matching(query: str, knowledge: str) -> float:
        if ranker:
            return scores_of(cross_encoder, [Pair(query, knowledge)])[0]
        first, second = embedder.embed([query, knowledge])
        return min(1.0, max(0.0, float(first @ second)))

    shown: dict[str, str | int | float] = {
        "inference": judge.name,
        "evidence": "bm25",
        "matching": cross_encoder.name if ranker else f"cosine:{embedder.name}",
        "language model": lm.name,
    }
    return ConnerModels(judge, matching, lm.log_probabilities, shown)


def conner(models: ConnerModels) -> CaseMetric:
    """Return eight means: eq. 1, 2, 3, 5 over sections with text, and over the interview's answers; all in [0, 1].

    The query of a section is the article's title and the headings that lead to it, that of an answer its question.
    Evidence are the snippets that the research found, the three best by BM25 a sentence. None where there is no
    section, or no answer.

    Departures: the knowledge is written from the very snippets that it is checked against, so factuality says how far
    it keeps to them. There is no downstream task, so helpfulness and validity are left out, and no published model
    of discourse that is free to use, so the coherence of paragraphs is.
    """

    def score(case: Case) -> Score:
        texts = list(dict.fromkeys(snippet.text for source in case.article.sources for snippet in source.snippets))
        index = LexicalIndex(([(text, 1)] for text in texts), floor=0.0)

        def evidence(sentence: str) -> list[str]:
            return [texts[match.position] for match in islice(index.search(sentence), EVIDENCE)]

        found: dict[str, list[Score]] = {part: [] for part in _PARTS}
        for part, query, text in pieces(case.article):
            found[part].append(_intrinsic(query, text, evidence, models))
        return {
            f"conner_{part}_{name}": _mean([value for one in found[part] if (value := one[name]) is not None])
            for part in _PARTS
            for name in _SCORES
        }

    return CaseMetric("conner", MEASURES, "Chen et al. 2023 (CONNER), section 3.3", score, models.names)


def _intrinsic(query: str, knowledge: str, evidence: Callable[[str], list[str]], models: ConnerModels) -> Score:
    """Return the scores of eq. 1, 2, 3 and 5."""
    sentences = split_sentences(knowledge)
    prompt = f"Knowledge from an encyclopedia on: {query}\n"
    return {
        "fact_consistent": factuality([(sentence, evidence(sentence)) for sentence in sentences], models.inference),
        "relevance": relevance(query, knowledge, models.matching),
        "coherence_sentence": sentence_coherence(sentences, models.lm),
        "informativeness": informativeness(prompt, f" {knowledge}", models.lm),
    }


def pieces(article: Article) -> Iterator[tuple[str, str, str]]:
    """Yield part, query and text of each section with text of its own, then of each answer of the interviews."""
    for path, section in all_sections(article):
        text = " ".join(sentence.text for paragraph in section.paragraphs for sentence in paragraph.sentences)
        if text.strip():
            yield "section", ": ".join((article.title, *path)), text
    for conversation in article.conversations:
        for turn in conversation.turns:
            if turn.answer:
                yield "answer", turn.question, turn.answer_text


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean; None without a value."""
    return math.fsum(values) / len(values) if values else None

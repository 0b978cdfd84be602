"""CONNER's equations, computed by hand, and what holds for any scores."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from conner_doubles import (
    ScriptedDiscourse,
    ScriptedInference,
    ScriptedLogProbabilities,
    ScriptedMatching,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_doubles import ScriptedSupportJudge
from scipy.stats import somersd

from storm_bench.conner import perspectives
from storm_bench.conner.correlation import somers_d
from storm_bench.conner.knowledge_selection import (
    Intrinsic,
    Quality,
    choose_demonstrations,
    choose_knowledge,
    fit_quality,
)
from storm_bench.conner.pair_models import CosineMatching, SupportInference
from storm_bench.conner.perspectives import (
    UNVERIFIED,
    Aggregate,
    Entailment,
    Inference,
    SentenceEvidence,
    answer_loss,
    helpfulness,
    informativeness,
    open_validity,
    paragraph_coherence,
    relative_gain,
    relevance,
    sentence_coherence,
    sentence_verdicts,
    span_validity,
)
from storm_bench.conner.scoring import exact_match, word_f1
from storm_pipeline.retrieval.embedder import HashingEmbedder

TABLE = {
    ("e1", "a"): Entailment(0.9, 0.1, 0.0),
    ("e2", "a"): Entailment(0.2, 0.3, 0.5),
    ("e1", "b"): Entailment(0.1, 0.8, 0.1),
    ("e2", "b"): Entailment(0.4, 0.0, 0.6),
}
NLI = ScriptedInference(lambda premise, hypothesis: TABLE[premise, hypothesis])
TWO = [SentenceEvidence("a", ("e1", "e2")), SentenceEvidence("b", ("e1", "e2"))]


def factuality(
    sentences: Sequence[SentenceEvidence], inference: Inference, aggregate: Aggregate = "min"
) -> Entailment | None:
    return perspectives.factuality(sentence_verdicts(sentences, inference), aggregate)


def test_factuality_takes_whole_verdicts_along_entailment() -> None:
    assert sentence_verdicts(TWO, NLI) == [Entailment(0.9, 0.1, 0.0), Entailment(0.4, 0.0, 0.6)]
    assert factuality(TWO, NLI) == Entailment(0.4, 0.0, 0.6)
    assert factuality(TWO, NLI, "max") == Entailment(0.9, 0.1, 0.0)
    mean = factuality(TWO, NLI, "mean")
    assert mean is not None
    assert (mean.entailed, mean.neutral, mean.refuted) == pytest.approx((0.65, 0.05, 0.3))


def test_factuality_without_evidence_or_sentences() -> None:
    assert factuality([TWO[0], SentenceEvidence("c", ())], NLI) == UNVERIFIED
    assert factuality([], NLI) is None


def test_a_support_judge_stands_in_and_refutes_nothing() -> None:
    inference = SupportInference(ScriptedSupportJudge(lambda passage, claim: 0.7))
    assert factuality([SentenceEvidence("a", ("e",))], inference) == Entailment(0.7, pytest.approx(0.3), 0.0)
    assert inference.name.startswith("stand-in:")


def test_relevance() -> None:
    matching = ScriptedMatching(lambda query, text: 0.25 if (query, text) == ("q", "k") else 1.0)
    assert relevance("q", "k", matching) == 0.25
    assert relevance("q", "  ", matching) is None
    cosine = CosineMatching(HashingEmbedder())
    same, other = cosine.matches("the silk road", ["the silk road", "7 1 9"])
    assert same == pytest.approx(1)
    assert 0 <= other < same


def test_sentence_coherence_is_the_mean_of_inverse_perplexities() -> None:
    lm = ScriptedLogProbabilities(lambda context, word: {"x": math.log(0.5), "y": math.log(0.125)}[word])
    # PPL("x x") = 2, PPL("x y") = (1/0.5 * 1/0.125) ** (1/2) = 4
    assert sentence_coherence(["x x", "x y"], lm) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert sentence_coherence(["x x", ""], lm) == pytest.approx(1 / 2)
    assert sentence_coherence([], lm) is None


def test_paragraph_coherence() -> None:
    model = ScriptedDiscourse(lambda sentences: float(list(sentences) == sorted(sentences)))
    assert paragraph_coherence(["a", "b"], model) == 1
    assert paragraph_coherence(["b", "a"], model) == 0
    assert paragraph_coherence([], model) is None


def test_informativeness_sees_the_query() -> None:
    lm = ScriptedLogProbabilities(lambda context, word: math.log(0.9 if "capital" in context else 0.1))
    assert informativeness("the capital is", "Washington", lm) == pytest.approx(0.1)
    assert informativeness("which one", "Washington DC", lm) == pytest.approx(0.9)
    assert informativeness("which one", "", lm) is None


def test_helpfulness_beside_random_knowledge() -> None:
    assert helpfulness(1.0, [2.0, 6.0]) == pytest.approx(0.75)  # the mean of the random losses, not their sum
    assert helpfulness(5.0, [2.0, 6.0]) == 0
    assert relative_gain(5.0, [2.0, 6.0]) == pytest.approx(-0.25)
    assert helpfulness(0.0, [4.0]) == 1
    assert helpfulness(1.0, []) is None
    assert helpfulness(0.0, [0.0]) is None
    lm = ScriptedLogProbabilities(lambda context, word: -3.0 if word == "rare" else -1.0)
    assert answer_loss("p", "rare word", lm) == pytest.approx(2)
    assert answer_loss("p", "", lm) is None


def test_validity_of_spans_takes_the_truth_as_premise() -> None:
    seen: list[tuple[str, str]] = []

    def script(premise: str, hypothesis: str) -> Entailment:
        seen.append((premise, hypothesis))
        return Entailment(0.6, 0.3, 0.1)

    assert span_validity("who wrote it", "Billy Hill", "Hill", ScriptedInference(script)) == 0.6
    assert seen == [("who wrote it? Billy Hill", "who wrote it? Hill")]
    assert span_validity("who", "Hill", " ", ScriptedInference(script)) == 0
    assert len(seen) == 1


def test_validity_of_open_answers_takes_the_best_evidence() -> None:
    assert open_validity("b", ["e1", "e2"], NLI) == 0.4
    assert open_validity("b", [], NLI) == 0
    assert open_validity("", ["e1"], NLI) == 0


def test_exact_match_and_f1() -> None:
    assert exact_match("The Beatles.", "beatles") == 1
    assert exact_match("Beatles", "the Who") == 0
    assert word_f1("in March 1981", "March 1981") == pytest.approx(0.8)
    assert word_f1("", "x") == 0
    assert word_f1("the", "a") == 1


def test_quality_and_both_choices() -> None:
    quality = Quality(1.0, 0.5, 0.25, 0.0)
    assert quality.of(Intrinsic(0.5, 0.5, 0.4, 0.9)) == pytest.approx(0.85)
    ranked = {"a": 1.0, "b": 3.0, "c": 3.0, "d": 2.0}
    assert choose_demonstrations("abcd", ranked.__getitem__, 3) == ("b", "c", "d")
    assert choose_demonstrations("abcd", ranked.__getitem__, 0) == ()
    assert choose_knowledge("abcd", ranked.__getitem__) == "b"
    with pytest.raises(ValueError, match="empty"):
        choose_knowledge("", ranked.__getitem__)


def test_gamma_is_found_again() -> None:
    rng = np.random.default_rng(0)
    scores = [Intrinsic(*row) for row in rng.random((4000, 4))]
    fitted = fit_quality(scores, [Quality(0.5, 1.0, -0.25, 0.0).of(one) + 7 for one in scores])
    assert (fitted.factuality, fitted.relevance, fitted.coherence, fitted.informativeness) == pytest.approx(
        (0.5, 1.0, -0.25, 0.0), abs=0.01
    )
    still = fit_quality([Intrinsic(0.5, value, 0.5, 0.5) for value in (0.1, 0.9)], [0.0, 1.0])
    assert still.factuality == still.coherence == still.informativeness == 0
    assert still.relevance > 0
    with pytest.raises(ValueError, match="1 scores and 1 targets"):
        fit_quality(scores[:1], [1.0])


def test_somers_d_by_hand() -> None:
    # pairs untied in x: 5; concordant 3 (1-2, 1-3 and 1-4), discordant 1 (2-4), tied in y 1 (3-4)
    found = somers_d([1, 2, 2, 3], [1, 3, 2, 2])
    assert found is not None
    assert found.d == pytest.approx(2 / 5)
    assert found.items == 4
    assert somers_d([1, 1, 1], [1, 2, 3]) is None
    assert somers_d([1, 2, 3], [1, 1, 1]) is None
    assert somers_d([1, 2], [1, 2]) is None
    assert "†" in str(somers_d(range(20), range(20)))


def test_values_of_one_item_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(12)
    y = x + rng.random(12)
    copies = [[float(value) for value in own for _ in range(4)] for own in (x, y)]
    alone = somers_d(*copies)
    grouped = somers_d(*copies, [f"{n:02}" for n in range(12) for _ in range(4)])
    single = somers_d(x.tolist(), y.tolist())
    assert alone is not None and grouped is not None and single is not None
    assert grouped.d == alone.d == pytest.approx(single.d)
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)
    assert (grouped.low, grouped.high) == pytest.approx((single.low, single.high))


shares = st.floats(0, 1)
verdicts = st.tuples(shares, shares).map(sorted).map(lambda cut: Entailment(cut[0], cut[1] - cut[0], 1 - cut[1]))
verdict_tables = st.lists(st.lists(verdicts, max_size=4), min_size=1, max_size=5)
logs = st.lists(st.floats(-50, 0), min_size=1, max_size=6)


def checked(table: Sequence[Sequence[Entailment]]) -> tuple[list[SentenceEvidence], ScriptedInference]:
    known = {(f"e{i}.{j}", f"s{i}"): verdict for i, row in enumerate(table) for j, verdict in enumerate(row)}
    sentences = [SentenceEvidence(f"s{i}", tuple(f"e{i}.{j}" for j in range(len(row)))) for i, row in enumerate(table)]
    return sentences, ScriptedInference(lambda premise, hypothesis: known[premise, hypothesis])


@given(verdict_tables, st.sampled_from(["min", "mean", "max"]), st.randoms(use_true_random=False))
def test_factuality_is_a_distribution_and_depends_on_no_order(
    table: list[list[Entailment]], aggregate: Aggregate, random: object
) -> None:
    sentences, inference = checked(table)
    found = factuality(sentences, inference, aggregate)
    assert found is not None
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in (found.entailed, found.neutral, found.refuted))
    assert found.entailed + found.neutral + found.refuted == pytest.approx(1)
    mixed = [SentenceEvidence(one.sentence, tuple(reversed(one.evidence))) for one in sentences]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    again = factuality(mixed, inference, aggregate)
    assert again is not None
    assert (again.entailed, again.neutral, again.refuted) == pytest.approx(
        (found.entailed, found.neutral, found.refuted)
    )


@given(verdict_tables)
def test_tolerance_orders_the_aggregates(table: list[list[Entailment]]) -> None:
    sentences, inference = checked(table)
    low, middle, high = (factuality(sentences, inference, how) for how in ("min", "mean", "max"))
    assert low is not None and middle is not None and high is not None
    assert low.entailed <= middle.entailed + 1e-9
    assert middle.entailed <= high.entailed + 1e-9


@given(st.lists(logs, min_size=1, max_size=5))
def test_language_model_scores_stay_in_range_and_sentences_in_any_order(table: list[list[float]]) -> None:
    lm = ScriptedLogProbabilities(lambda context, word: float(word))
    texts = [" ".join(map(str, row)) for row in table]
    found = sentence_coherence(texts, lm)
    assert found is not None
    assert 0 <= found <= 1
    assert sentence_coherence(texts[::-1], lm) == pytest.approx(found)
    surprise = informativeness("q", texts[0], lm)
    assert surprise is not None
    assert 0 <= surprise <= 1


@given(st.floats(0, 50), st.lists(st.floats(0.01, 50), min_size=1, max_size=5))
def test_helpfulness_stays_in_range_and_falls_with_the_loss(loss: float, random_losses: list[float]) -> None:
    found = helpfulness(loss, random_losses)
    worse = helpfulness(loss + 1, random_losses)
    assert found is not None and worse is not None
    assert 0 <= worse <= found <= 1
    assert helpfulness(loss, random_losses[::-1]) == pytest.approx(found)


@given(st.text(), st.text())
def test_f1_is_symmetric_and_bounded_by_a_match(one: str, other: str) -> None:
    assert 0 <= word_f1(one, other) <= 1
    assert word_f1(one, other) == word_f1(other, one)
    assert word_f1(one, other) >= exact_match(one, other)


@settings(max_examples=25)  # a bootstrap each
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20))
def test_somers_d_is_scipys_and_changes_its_sign(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    found = somers_d(x, y)
    if found is None:
        assert len(set(x)) == 1 or len(set(y)) == 1
        return
    assert found.d == pytest.approx(float(somersd(x, y).statistic))
    assert -1 <= found.low <= found.high <= 1
    turned = somers_d([-a for a in x], y)
    assert turned is not None
    assert turned.d == pytest.approx(-found.d)

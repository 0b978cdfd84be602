"""CONNER's equations, computed by hand; its models beside second implementations; its metric of articles."""

import math
from pathlib import Path

import pytest
from cases import case, generated, human
from judge_doubles import ScriptedSupportJudge
from tiny_models import write_classifier, write_gpt2

from storm_bench.errors import MetricError
from storm_bench.judges.pretrained import CausalModel
from storm_bench.metrics.conner import (
    MEASURES,
    answer_loss,
    conner,
    factuality,
    helpfulness,
    informativeness,
    open_models,
    open_validity,
    paragraph_coherence,
    relevance,
    sentence_coherence,
    span_validity,
)
from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder

TABLE = {("e1", "a"): 0.9, ("e2", "a"): 0.2, ("e1", "b"): 0.1, ("e2", "b"): 0.4}
NLI = ScriptedSupportJudge(lambda premise, hypothesis: TABLE[premise, hypothesis])


def test_factuality_is_the_worst_sentences_by_its_best_evidence() -> None:
    assert factuality([("a", ["e1", "e2"]), ("b", ["e1", "e2"])], NLI) == 0.4
    assert factuality([("a", ["e1"]), ("c", [])], NLI) == 0
    assert factuality([], NLI) is None


def test_relevance_and_paragraph_coherence() -> None:
    assert relevance("q", "k", lambda query, text: 0.25) == 0.25
    assert relevance("q", "  ", lambda query, text: 0.25) is None
    assert paragraph_coherence(["a", "b"], lambda sentences: 0.25) == 0.25
    assert paragraph_coherence([], lambda sentences: 0.25) is None


def test_scores_of_a_language_model() -> None:
    def words(context: str, text: str) -> list[float]:
        shares = {"x": 0.5, "y": 0.125, "Washington": 0.9 if "capital" in context else 0.1}
        return [math.log(shares[word]) for word in text.split()]

    # PPL("x x") = 2, PPL("x y") = (1/0.5 * 1/0.125) ** (1/2) = 4
    assert sentence_coherence(["x x", "x y", ""], words) == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert sentence_coherence([""], words) is None
    assert informativeness("the capital is", "Washington", words) == pytest.approx(0.1)
    assert informativeness("which one", "Washington", words) == pytest.approx(0.9)
    assert informativeness("which one", "", words) is None
    assert answer_loss("p", "x y", words) == pytest.approx(math.log(4))
    assert answer_loss("p", "", words) is None


def test_helpfulness_beside_random_knowledge() -> None:
    assert helpfulness(1.0, [2.0, 6.0]) == pytest.approx(0.75)  # the mean of the random losses, not their sum
    assert helpfulness(5.0, [2.0, 6.0]) == 0
    assert helpfulness(1.0, []) is None
    assert helpfulness(0.0, [0.0]) is None


def test_validity_takes_the_truth_or_the_best_evidence_as_premise() -> None:
    judge = ScriptedSupportJudge(lambda premise, hypothesis: 0.6)
    assert span_validity("who wrote it", "Billy Hill", "Hill", judge) == 0.6
    assert [(one.passage, one.claim) for one in judge.batches[0]] == [
        ("who wrote it? Billy Hill", "who wrote it? Hill")
    ]
    assert span_validity("who", "Hill", " ", judge) == 0
    assert open_validity("b", ["e1", "e2"], NLI) == 0.4
    assert open_validity("b", [], NLI) == 0


@pytest.mark.parametrize(
    ("context", "text", "start"),
    [("", "rome fell", True), ("the trade of silk", "went on by sea", True), ("", "rome fell in", False)],
)
def test_log_probabilities_add_up_to_the_librarys_loss(tmp_path: Path, context: str, text: str, start: bool) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = write_gpt2(tmp_path / "gpt2", start=start)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(f"{'<start> ' * start}{context} {text}", add_special_tokens=False, return_tensors="pt").input_ids
    scored = len(text.split()) - (not start)  # without a start token the first token has no probability
    labels = torch.cat([torch.full_like(ids[:, :-scored], -100), ids[:, -scored:]], dim=1)
    found = CausalModel(folder).log_probabilities(context, text)
    assert len(found) == scored
    assert -sum(found) / scored == pytest.approx(model(ids, labels=labels).loss.item(), abs=1e-4)


def test_a_long_context_loses_its_beginning_and_a_long_text_its_end(tmp_path: Path) -> None:
    folder = write_gpt2(tmp_path / "gpt2", start=False, window=5)
    model = CausalModel(folder)
    long = model.log_probabilities("rome fell in silence", "the trade")
    assert long == pytest.approx(model.log_probabilities("fell in silence", "the trade"))
    assert len(model.log_probabilities("and", "rome fell in silence and the trade")) == 4
    assert model.log_probabilities("rome", "") == []


def test_a_language_model_that_cannot_be_used(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    with pytest.raises(MetricError, match=r"cannot be loaded .*give a folder with a model"):
        CausalModel(tmp_path).log_probabilities("", "rome")
    weights = write_gpt2(tmp_path / "gpt2") / "model.safetensors"
    kept = {name: own for name, own in load_file(weights).items() if name != "transformer.h.1.ln_2.weight"}
    save_file(kept, weights, metadata={"format": "pt"})
    with pytest.raises(MetricError, match=r"the model .*gpt2' has no weights for transformer\.h\.1\.ln_2"):
        CausalModel(tmp_path / "gpt2").log_probabilities("rome", "fell")


def test_every_section_and_answer_of_an_article_is_scored(tmp_path: Path) -> None:
    ranker = write_classifier(tmp_path / "ranker", ["relevance"])
    names = {"lm": str(write_gpt2(tmp_path / "gpt2", window=64)), "matching": f"ranker:{ranker}"}
    judge, embedder = ScriptedSupportJudge(lambda premise, hypothesis: float("fell" in premise)), HashingEmbedder()
    metric = conner(open_models(names, lambda name: judge, embedder, tmp_path))
    texts = {"Rome": ["Rome fell in silence.[1]", "The trade of silk went on."], "Silk": "Silk went by sea."}
    [score, empty] = metric.score([case(human(), generated(texts, sources=1)), case(human(), generated())])
    assert list(score) == [measure.name for measure in MEASURES]
    assert all(value is not None and 0 <= value <= 1 for name, value in score.items() if "section" in name)
    assert all(value is None for name, value in score.items() if "answer" in name)
    assert set(empty.values()) == {None}
    assert metric.parameters["matching"] == "cross-encoder:ranker"


def test_models_that_conner_does_not_have(tmp_path: Path) -> None:
    for names in ({"oracle": "x"}, {"inference": "lm:openai/x"}, {"matching": "tarot:x"}, {"matching": "ranker:"}):
        with pytest.raises(SettingsError, match=r"no model|no ranker"):
            open_models(names, lambda name: NLI, HashingEmbedder(), tmp_path)

"""The judge without a language model, and the caching judge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.judges.base import CachingJudge, Pair
from storm_bench.judges.doubles import ScriptedSupportJudge
from storm_bench.judges.screen import FEATURES, LEARNT, ScreenJudge, features
from storm_pipeline.retrieval.embedder import HashingEmbedder

PASSAGE = "The Orrin Dam was built between 1931 and 1936. Selby took in 400 families who lost their farms."
EMBEDDER = HashingEmbedder()


def row(passage: str, claim: str) -> dict[str, float]:
    return dict(zip(FEATURES, features([Pair(passage, claim)], EMBEDDER)[0].tolist(), strict=True))


def test_features_by_hand() -> None:
    found = row(PASSAGE, "The dam of Orrin was built in 1931, not by Valmere in 1940.")
    assert found["numbers"] == 1 / 2
    assert found["words"] == pytest.approx(4 / 6)  # dam, Orrin, built, 1931; not Valmere, 1940
    assert row(PASSAGE, PASSAGE) == pytest.approx(dict.fromkeys(FEATURES, 1.0))
    plain = row(PASSAGE, "nothing of this")
    assert (plain["numbers"], plain["words"]) == (1, 0)


def test_meaning_is_that_of_the_best_part_of_a_long_passage() -> None:
    padding = " ".join(f"Sentence {i} speaks of quite other matters here." for i in range(60))
    claim = "Selby took in 400 families who lost their farms."
    alone, hidden = row(PASSAGE, claim)["meaning"], row(f"{padding} {PASSAGE} {padding}", claim)["meaning"]
    whole = float(np.dot(*EMBEDDER.embed([f"{padding} {PASSAGE} {padding}", claim])))
    assert alone > hidden > whole


def test_a_matching_passage_scores_higher() -> None:
    judge = ScreenJudge(EMBEDDER)
    fits, other = judge.scores(
        [
            Pair(PASSAGE, "The Orrin Dam was built between 1931 and 1936."),
            Pair(PASSAGE, "Smoked char is eaten at weddings in Valmere."),
        ]
    )
    assert fits > judge.threshold > other


def test_every_weight_speaks_for_support() -> None:
    assert all(getattr(LEARNT, name) >= 0 for name in FEATURES)
    assert LEARNT.bias < 0
    assert ScreenJudge(EMBEDDER).parameters["meaning"] == LEARNT.meaning
    assert ScreenJudge(EMBEDDER).name == "screen:hashing-128"


_texts = st.one_of(
    st.sampled_from(["", "…", PASSAGE, "In 1931.", "ein Satz", "大坝建于1931年。"]), st.text(max_size=40)
)


@given(st.lists(st.builds(Pair, _texts, _texts), max_size=5))
def test_scores_are_probabilities_independent_of_the_batch(pairs: list[Pair]) -> None:
    judge = ScreenJudge(EMBEDDER)
    found = judge.scores(pairs)
    assert all(0 <= score <= 1 for score in found)
    assert found == pytest.approx([judge.scores([pair])[0] for pair in pairs])
    assert [score == 0 for score in judge.scores([Pair("", "A claim."), Pair("A passage.", "")])] == [True, True]


@given(st.lists(st.lists(st.builds(Pair, _texts, st.sampled_from("abc")), max_size=6), max_size=4))
def test_a_caching_judge_gives_equal_scores_and_asks_once(batches: list[list[Pair]]) -> None:
    judge = ScriptedSupportJudge(lambda passage, claim: (len(passage) % 7) / 7)
    remembering = CachingJudge.of(judge)
    assert CachingJudge.of(remembering) is remembering
    for batch in batches:
        assert remembering.scores(batch) == [(len(pair.passage) % 7) / 7 for pair in batch]
        assert remembering.supported(batch) == [score >= 0.5 for score in remembering.scores(batch)]
    asked = [pair for batch in judge.batches for pair in batch]
    assert len(asked) == len(set(asked))
    assert set(asked) == {pair for batch in batches for pair in batch}

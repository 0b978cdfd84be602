"""ROUGE, BLEU and METEOR on cases computed by hand."""

import math
import tracemalloc
from pathlib import Path

import psutil
import pytest
from cases import case
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from wordnet_files import write_wordnet

from storm_bench.errors import MetricError
from storm_bench.metrics.base import Metric, Score
from storm_bench.metrics.overlap import bleu, f_beta, rouge, rouge_body
from storm_bench.metrics.overlap import meteor as open_meteor

ROUGE, BODY, BLEU = rouge(), rouge_body(), bleu()


@pytest.fixture
def meteor(tmp_path: Path) -> Metric:
    return open_meteor(write_wordnet(tmp_path))


def score(metric: Metric, truth: str, produced: str) -> Score:
    return metric.score([case(truth, produced)])[0]


def test_rouge_by_hand() -> None:
    found = score(ROUGE, "The cats saw a big red dog.", "A dog saw cats")
    # Common words: a, dog, saw, cat; common pair: none, for "a big" and "dog saw" differ; longest in order: two.
    precision, recall = 4 / 4, 4 / 7
    assert (found["rouge_1_precision"], found["rouge_1_recall"]) == (precision, pytest.approx(recall))
    assert found["rouge_1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert (found["rouge_2"], found["rouge_2_precision"], found["rouge_2_recall"]) == (0, 0, 0)
    assert (found["rouge_l_precision"], found["rouge_l_recall"]) == (2 / 4, pytest.approx(2 / 7))


def test_a_text_without_latin_letters_has_no_rouge_but_that_of_written_tokens() -> None:
    found = score(ROUGE, "Рим вырос.", "Рим вырос.")
    assert found == dict.fromkeys(found) | {"rouge_l_wikigenbench": pytest.approx(1.0)}
    assert score(ROUGE, "Rome grew.", "Рим вырос.")["rouge_1"] == 0.0


def test_the_two_rouge_ls_differ_in_tokens_and_weight() -> None:
    found = score(ROUGE, "The storm flooded roads.", "Storms flood roads")
    assert found["rouge_l_recall"] == pytest.approx(3 / 4)  # storm, flood, road: stems in small letters
    assert found["rouge_l_wikigenbench"] == 0.0  # "roads." is not "roads", "storm" not "Storms"
    assert f_beta(1.0, 0.5, 1.2) == pytest.approx(2.44 * 0.5 / (0.5 + 1.44))
    assert f_beta(0.0, 0.0, 1.2) == 0.0


@given(*[st.lists(st.sampled_from("sun sea map cat the".split()), max_size=80).map(" ".join)] * 2)
def test_rouge_l_is_that_of_the_library(truth: str, produced: str) -> None:
    found, library = score(BODY, truth, produced), RougeScorer(["rougeL"]).score(truth, produced)["rougeL"]
    values = [found[f"rouge_l_body{part}"] for part in ("_precision", "_recall", "")]
    assert values == ([*library] if truth else [None] * 3)


def test_rouge_l_of_long_articles_takes_little_memory() -> None:
    words = [f"w{number}" for number in range(6000)]
    tracemalloc.start()
    found = score(ROUGE, " ".join(words), " ".join([*words[::2], *words[1::2]]))
    assert tracemalloc.get_traced_memory()[1] < 2**25  # a table of all pairs has 2^25 places, of eight bytes each
    tracemalloc.stop()
    assert found["rouge_l"] == found["rouge_l_wikigenbench"] == pytest.approx(0.5, abs=0.001)


def test_bleu_by_hand() -> None:
    found = score(BLEU, "sun red big map sea cat", "sun red big map dog dog")
    # Of 1- to 4-grams are common 4 of 6, 3 of 5, 2 of 4 and 1 of 3; equal lengths are not penalised.
    assert found["bleu_1"] == pytest.approx(4 / 6)
    assert found["bleu_4"] == pytest.approx((4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))
    half = score(BLEU, "sun red big map sea cat", "sun red big")
    assert (half["bleu_1"], half["bleu_4"]) == (pytest.approx(math.exp(1 - 6 / 3)), 0)


def test_meteor_by_hand(meteor: Metric) -> None:
    assert score(meteor, "The cat sat on the mat.", "the cat sat on the mat") == {
        "meteor": pytest.approx(1 - 0.5 * (1 / 6) ** 3)  # one chunk of six words
    }
    # "went" is a form of "go" and shares a sense with "travel", "auto" one with "car"; two chunks of three.
    produced, truth = "they went by auto", "they travel in a car"
    precision, recall = 3 / 4, 3 / 5
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert score(meteor, truth, produced)["meteor"] == pytest.approx(mean * (1 - 0.5 * (2 / 3) ** 3))
    assert score(meteor, "roads", "road")["meteor"] == pytest.approx(0.5)  # one stem, one chunk of one word
    assert score(meteor, "sea", "sun") == {"meteor": 0.0}
    assert meteor.parameters["wordnet"] == "3.0"


def test_where_wordnet_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    with pytest.raises(MetricError, match="needs WordNet: run `python -m nltk"):
        open_meteor()
    write_wordnet(tmp_path)
    assert open_meteor().name == "meteor"
    with pytest.raises(MetricError, match="needs WordNet"):
        open_meteor(tmp_path / "other")


def test_no_file_of_wordnet_stays_open(tmp_path: Path) -> None:
    metric = open_meteor(write_wordnet(tmp_path))
    assert score(metric, "roads", "road")["meteor"]
    assert not [file.path for file in psutil.Process().open_files() if Path(file.path).is_relative_to(tmp_path)]

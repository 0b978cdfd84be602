"""ROUGE, BLEU and METEOR against implementations written out here, and cases computed by hand."""

import math
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from cases import case
from hypothesis import given, settings
from hypothesis import strategies as st
from wordnet_files import write_wordnet

from storm_bench.errors import MetricError
from storm_bench.metrics.base import Metric, Score
from storm_bench.metrics.overlap import bleu, f_beta, rouge
from storm_bench.metrics.overlap import meteor as open_meteor

# Words that Porter's stemmer leaves as they are, so that counting words is counting stems.
texts = st.lists(st.sampled_from("cat dog sun red big map sea".split()), min_size=1, max_size=14).map(" ".join)
ROUGE, BLEU = rouge(), bleu()


@pytest.fixture
def meteor(tmp_path: Path) -> Metric:
    return open_meteor(write_wordnet(tmp_path))


def score(metric: Metric, truth: str, produced: str) -> Score:
    return metric.score([case(truth, produced)])[0]


def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def common_subsequence(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        return 1 + longest(i + 1, j + 1) if a[i] == b[j] else max(longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@settings(max_examples=60)
@given(texts, texts)
def test_rouge_is_what_it_is_defined_as(truth: str, produced: str) -> None:
    found, a, b = score(ROUGE, truth, produced), truth.split(), produced.split()
    for n in (1, 2):
        left, right = grams(a, n), grams(b, n)
        hits = sum((left & right).values())
        precision, recall = hits / max(sum(right.values()), 1), hits / max(sum(left.values()), 1)
        assert found[f"rouge_{n}_precision"] == pytest.approx(precision)
        assert found[f"rouge_{n}_recall"] == pytest.approx(recall)
        assert found[f"rouge_{n}"] == pytest.approx(f1(precision, recall))
    length = common_subsequence(tuple(a), tuple(b))
    assert found["rouge_l_precision"] == pytest.approx(length / len(b))
    assert found["rouge_l_recall"] == pytest.approx(length / len(a))
    assert found["rouge_l"] == pytest.approx(f1(length / len(b), length / len(a)))
    weighted = f_beta(length / len(b), length / len(a), 1.2)
    assert found["rouge_l_wikigenbench"] == pytest.approx(weighted)


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


@settings(max_examples=60)
@given(texts, texts)
def test_bleu_is_what_it_is_defined_as(truth: str, produced: str) -> None:
    found, a, b = score(BLEU, truth, produced), truth.split(), produced.split()
    for order in (1, 4):
        precisions = []
        for n in range(1, order + 1):
            right = grams(b, n)
            precisions.append(sum((right & grams(a, n)).values()) / max(sum(right.values()), 1))
        penalty = min(1.0, math.exp(1 - len(a) / len(b)))
        mean = math.prod(precisions) ** (1 / order)
        assert found[f"bleu_{order}"] == pytest.approx(penalty * mean, abs=1e-9)


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


def test_without_text(meteor: Metric) -> None:
    for metric in (ROUGE, BLEU, meteor):
        assert set(score(metric, "", "words").values()) == {None}
        assert set(score(metric, "words here", "").values()) == {0.0}

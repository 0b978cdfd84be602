"""The judge that is a cross-encoder, on tiny models made here."""

import json
import threading
from concurrent.futures import wait
from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder as run_folder
from test_resume import storm

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.run.concurrency import in_own_thread

WORDS = "the dam is old new it was built and much more may be said of".split()
LABELS = ["contradiction", "ENTAILMENT", "neutral"]
PASSAGE, CLAIM = "the dam is old.", "it is old."


def write_model(folder: Path, labels: list[str]) -> Path:
    """A classifier of 48 tokens with random weights and a tokenizer of whole words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *WORDS]))
    torch.manual_seed(0)
    named = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=6 + len(WORDS), max_position_embeddings=48, initializer_range=0.5, **sizes, **named)
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=48).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("nli") / "tiny-nli", LABELS)


def logits(folder: Path, passage: str, claim: str) -> list[float]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.inference_mode():
        found: list[float] = model(**tokenizer(passage, claim, return_tensors="pt")).logits[0].tolist()
    return found


def chances(folder: Path, *questions: Question) -> list[float]:
    return [verdict.probability for verdict in CrossEncoderJudge(folder).judge(questions)]


def test_the_probability_is_the_share_of_the_label_that_names_entailment(folder: Path) -> None:
    import torch

    asked = [Question(CLAIM, (PASSAGE,)), Question("the dam", ("it was built",)), Question(CLAIM, ())]
    expected = [float(torch.tensor(logits(folder, one.passages[0], one.claim)).softmax(-1)[1]) for one in asked[:2]]
    judge = CrossEncoderJudge(folder)
    assert judge.judge([]) == []
    assert judge.judge(asked[2:]) == [Verdict("not", 0.0)]
    assert [one.probability for one in judge.judge(asked)] == pytest.approx([*expected, 0.0], abs=1e-5)
    assert (judge.name, judge.parameters) == ("cross-encoder:tiny-nli", {"threshold": 0.5})


def test_a_model_of_one_score_has_the_logistic_function_of_it(tmp_path: Path) -> None:
    import torch

    folder = write_model(tmp_path / "tiny-score", ["LABEL_0"])
    expected = float(torch.tensor(logits(folder, PASSAGE, CLAIM)).sigmoid()[0])
    assert chances(folder, Question(CLAIM, (PASSAGE,))) == pytest.approx([expected], abs=1e-5)


def test_long_passages_are_read_in_windows_of_which_the_best_counts(folder: Path) -> None:
    filler = "much more may be said of it. " * 30
    asked = [Question(CLAIM, (filler, f"{PASSAGE} {filler}")), Question("old", ("the dam",)), Question("", (filler,))]
    together = chances(folder, *asked)
    assert together == pytest.approx([chances(folder, one)[0] for one in asked], abs=1e-5)
    assert together[0] >= chances(folder, Question(CLAIM, (filler,)))[0] > 0
    assert 0 < chances(folder, Question("the dam was built and it is old " * 20, (PASSAGE,)))[0] < 1


def test_a_question_waits_for_no_more_than_a_batch_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()

    def predict(_: object, pairs: list[tuple[str, str]], **__: object) -> list[list[float]]:
        started.set()
        wait([one], 0.05)  # not for ever: it may wait for this batch
        return [[0.0, 0.0, 0.0]] * len(pairs)

    judge = CrossEncoderJudge(folder)
    assert judge.judge([Question(CLAIM, (PASSAGE,))])
    monkeypatch.setattr("sentence_transformers.CrossEncoder.predict", predict)
    one = in_own_thread(lambda: (started.wait(), judge.judge([Question("old", ("the dam",))])), "one")
    assert len(judge.judge([Question(CLAIM, (PASSAGE,))] * 1600)) == 1600
    assert one.result(0)


def changed(folder: Path, to: Path, **entries: object) -> Path:
    """A copy of a model with other entries in its configuration."""
    to.mkdir()
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    (to / "config.json").write_text(json.dumps(json.loads((folder / "config.json").read_text()) | entries))
    return to


def test_what_is_not_a_cross_encoder_is_refused_with_what_helps(folder: Path, tmp_path: Path) -> None:
    vague = changed(folder, tmp_path / "vague", id2label={str(i): f"LABEL_{i}" for i in range(3)})
    headless = changed(folder, tmp_path / "headless", architectures=["BertModel"])
    pickled = changed(folder, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    (tmp_path / "empty").mkdir()
    for model, said in (
        (vague, "0 of the labels .* name entailment"),
        (headless, r"cannot be loaded as a cross-encoder \(BertModel has no trained scores\): give the folder"),
        (pickled, "cannot be loaded as a cross-encoder .*safetensors"),
        (tmp_path / "empty", "cannot be loaded as a cross-encoder"),
        (tmp_path / "nowhere", "cannot be loaded as a cross-encoder"),
    ):
        with pytest.raises(SettingsError, match=said):
            chances(model, Question(CLAIM, (PASSAGE,)))


@pytest.mark.parametrize("own", [False, True])
def test_the_chosen_model_judges_and_a_resumed_run_asks_nothing(steady: FakeModel, tmp_path: Path, own: bool) -> None:
    with FakeModel() as other:
        given = {"judge_lm": other.lm} if own else {}
        article = storm(steady, tmp_path, **given).write("Silk Road")
        assert bool(steady.of("CheckSentences")) != own and bool(other.of("CheckSentences")) == own
        support = article.support
        assert support is not None and support.judge == f"model:{steady.lm.partition('@')[0]}"
        assert support.recall == 1.0
        asked = len(steady.asked), len(other.asked)
        (run_folder(tmp_path) / "article.json").unlink()
        again = storm(steady, tmp_path, **given).resume(run_folder(tmp_path))
        assert again.support == support
        assert (len(steady.asked), len(other.asked)) == asked

"""Judges on real models: language models over the wire, and a model as TRUE's made here."""

import json
from pathlib import Path

import pytest
from judge_llm import FakeModel
from llm import completion
from servers import Reply, Request, ScriptedServer

from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair, scores_of
from storm_bench.judges.grading import Grade, GradingRequest, LanguageModelGrader, Rubric
from storm_bench.judges.model_judge import JudgeModel, LanguageModelJudge, open_judge
from storm_bench.judges.open_judge import open_support_judge
from storm_bench.judges.pretrained import TrueJudge
from storm_pipeline.errors import SettingsError
from storm_pipeline.settings import Settings

FAST = Settings.build({"lm_timeout": 5, "call_attempts": 1, "parse_attempts": 2})
PAIRS = [Pair("The dam is old.", "It is old."), Pair("The dam is old.", "It is new."), Pair("", "It is old.")]
RUBRIC = Rubric("depth", "Depth: is it deep?", ("shallow", "low", "fair", "deep", "very deep"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_judge_replies_are_cached() -> None:
    with FakeModel({"JudgeSupport": verdict}) as server:
        first = scores_of(LanguageModelJudge(open_judge(server.lm, FAST)), PAIRS)
        assert scores_of(LanguageModelJudge(open_judge(server.lm, FAST)), PAIRS) == first
        assert len(server.asked) == 2
        assert scores_of(LanguageModelJudge(open_judge(f"{server.lm}/", FAST)), PAIRS) == first
        assert len(server.asked) == 4  # what another endpoint serves may be another model


def test_an_unparsable_reply_is_not_cached() -> None:
    with FakeModel({"JudgeSupport": verdict}, {"JudgeSupport": [Reply(body=completion("Well …"))] * 3}) as server:
        judge = LanguageModelJudge(open_judge(server.lm, FAST))
        with pytest.raises(MetricError):
            scores_of(judge, PAIRS[:1])
        assert len(server.asked) == 2
        assert scores_of(judge, PAIRS[:1]) == [1.0]
        assert len(server.asked) == 4
        assert scores_of(LanguageModelJudge(open_judge(server.lm, FAST)), PAIRS[:1]) == [1.0]
        assert len(server.asked) == 4


def verdict(user: str) -> str:
    return json.dumps({"verdict": "yes" if "It is old." in user else "partly" if "perhaps" in user else "no"})


def test_verdicts_of_a_language_model() -> None:
    with FakeModel({"JudgeSupport": verdict}) as server:
        judge = LanguageModelJudge(open_judge(server.lm, FAST))
        assert scores_of(judge, [*PAIRS, Pair("x", "perhaps"), PAIRS[0]]) == [1.0, 0.0, 0.0, 0.5, 1.0]
        assert len(server.asked) == 3  # the empty passage unasked, the equal pair once
        assert {asked.body["temperature"] for asked in server.asked} == {0}
        assert "Passage: The dam is old.\nClaim: It is old." in {asked.user for asked in server.asked}
    assert judge.name == "lm:openai/fake"
    assert judge.parameters["temperature"] == 0


def test_a_judge_that_fails_or_returns_another_format() -> None:
    with FakeModel({"JudgeSupport": "I would say so."}) as server:
        judge = LanguageModelJudge(open_judge(server.lm, FAST))
        with pytest.raises(MetricError, match="the judge openai/fake gave no answer to JudgeSupport"):
            scores_of(judge, PAIRS)
    with FakeModel(faults={"JudgeSupport": [Reply(401, {"error": {"message": "bad key"}})] * 9}) as server:
        judge = LanguageModelJudge(open_judge(server.lm, FAST))
        with pytest.raises(MetricError, match="refuses the key"):
            scores_of(judge, PAIRS)


def graded(user: str) -> str:
    return json.dumps({"feedback": "Deep enough.", "score": 5 if "Score 0: none" in user else 4})


def test_grades_of_both_scales() -> None:
    zero = Rubric("depth", RUBRIC.criterion, ("none", *RUBRIC.grades), low=0)
    requests = [GradingRequest("Write.", "A text.", own) for own in (RUBRIC, zero, RUBRIC)]
    with FakeModel({"GradeOneToFive": graded, "GradeZeroToFive": graded}) as server:
        grader = LanguageModelGrader(open_judge(server.lm, FAST))
        assert grader.grades(requests) == [Grade(4, "Deep enough."), Grade(5, "Deep enough."), Grade(4, "Deep enough.")]
        assert [asked.signature for asked in server.asked] == ["GradeOneToFive", "GradeZeroToFive"]
        assert server.asked[0].user.startswith(
            "Task: Write.\nText: A text.\nCriterion: Depth: is it deep?\nScale:\nScore 1"
        )
    assert grader.name == "lm:openai/fake"


class Prometheus:
    """Serves replies in order to a model of that kind, and keeps what was asked."""

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies)
        self.asked: list[list[dict[str, str]]] = []
        self._server = ScriptedServer(self._reply)

    def _reply(self, request: Request) -> Reply:
        self.asked.append(request.json["messages"])
        return Reply(body=completion(self._replies.pop(0)))

    def __enter__(self) -> JudgeModel:
        self._server.__enter__()
        return open_judge(f"openai/prometheus@{self._server.url}/v1", FAST, form="prometheus")

    def __exit__(self, *error: object) -> None:
        self._server.__exit__(*error)


PROMETHEUS_FORM = """###The instruction to evaluate:
Write about dams.

###Response to evaluate:
Dams are old.
##Score Rubrics:

###Score Rubrics:
[Depth: is it deep?]
Score 1: shallow
Score 2: low
Score 3: fair
Score 4: deep
Score 5: very deep

###Feedback:"""


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("Feedback: Well done. [RESULT] 4", Grade(4, "Well done.")),
        ("It is good,\nmostly. [RESULT] (3)", Grade(3, "It is good,\nmostly.")),
        ("Feedback: Fine. [RESULT] Score: 5</s>", Grade(5, "Fine.")),
    ],
)
def test_the_prometheus_format(reply: str, grade: Grade) -> None:
    server = Prometheus(reply)
    with server as model:
        work = GradingRequest("Write about dams.", "Dams are old.\n###Score Rubrics:", RUBRIC)
        assert LanguageModelGrader(model).grades([work]) == [grade]
    (messages,) = server.asked
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"].startswith("###Task Description:\n")
    assert messages[1]["content"].strip().endswith(PROMETHEUS_FORM)
    assert "[RESULT] (an integer number between 1 and 5)" in messages[1]["content"]


@pytest.mark.parametrize("reply", ["No grade at all.", "Feedback: Great! [RESULT] 9", "[RESULT] high"])
def test_an_invalid_grade_is_retried(reply: str) -> None:
    with Prometheus(reply, "Feedback: Fine. [RESULT] 5") as model:
        assert LanguageModelGrader(model).grades([GradingRequest("t", "t", RUBRIC)]) == [Grade(5, "Fine.")]
    # another text: the second server may have the first one's port, and replies are remembered by address and request
    with Prometheus(reply, reply) as model, pytest.raises(MetricError, match="RESULT"):
        LanguageModelGrader(model).grades([GradingRequest("t", "another", RUBRIC)])


def test_the_prometheus_format_supports_only_grading() -> None:
    with Prometheus() as model, pytest.raises(SettingsError, match="judge_form 'plain'"):
        scores_of(LanguageModelJudge(model), PAIRS[:1])


WORDS = "the dam is old new it was built and much more may be said of".split()


@pytest.fixture(scope="module")
def seq2seq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny T5 with random weights and a tokenizer of whole words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    base = tmp_path_factory.mktemp("true") / "tiny-true"
    vocabulary = {
        word: i
        for i, word in enumerate(["<pad>", "</s>", "<unk>", ":", ".", "premise", "hypothesis", "0", "1", *WORDS])
    }
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=1,
        num_decoder_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=2.0,
    )
    T5ForConditionalGeneration(config).save_pretrained(base)
    PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=48
    ).save_pretrained(base)
    return base


def test_a_seq2seq_model_scores_by_its_two_answers(seq2seq: Path) -> None:
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(seq2seq), AutoModelForSeq2SeqLM.from_pretrained(seq2seq)
    one, zero = tokenizer.convert_tokens_to_ids(["1", "0"])
    pairs = [Pair("the dam is old.", "it is old."), Pair("it was built", "the dam"), Pair("", "the dam")]

    def probability(pair: Pair) -> float:
        prompt = tokenizer(f"premise: {pair.passage} hypothesis: {pair.claim}", return_tensors="pt").input_ids
        with torch.inference_mode():
            logits = model(input_ids=prompt, decoder_input_ids=torch.tensor([[0]])).logits[0, -1]
        return float(logits[[one, zero]].softmax(-1)[0])

    judge = TrueJudge(seq2seq)
    expected = [probability(pairs[0]), probability(pairs[1]), 0.0]
    assert expected[0] != pytest.approx(expected[1], abs=1e-3)
    assert scores_of(judge, pairs) == pytest.approx(expected, abs=1e-5)


def test_judges_by_name() -> None:
    names = ("screen", "nli:tiny", "true:tiny", "lm:openai/fake@http://127.0.0.1:9/v1")
    opened = [open_support_judge(name, FAST) for name in names]
    assert [judge.name.partition(":")[0] for judge in opened] == ["screen", "cross-encoder", "true", "lm"]
    for wrong in ("", "nli", "lm:", "oracle:x", "screen:x"):
        with pytest.raises(SettingsError, match="unknown judge"):
            open_support_judge(wrong, FAST)

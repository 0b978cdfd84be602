"""The pipeline as a DSPy module, sets of compiled programs, and programs of several predictors of one's own."""

import functools
import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.teleprompt import BootstrapFewShot
from dspy.utils import parallelizer
from dspy.utils.callback import BaseCallback
from llm import FakeModel, completion
from servers import Reply
from test_pipeline import NoContents, folder, world
from test_resume import answers, stopped, storm, text

from storm_pipeline import Storm
from storm_pipeline.errors import ProgramError, SettingsError
from storm_pipeline.method.program import StormProgram
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program, Programs, Provenance, add_to_set, read_set
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import research
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Conversation

INPUTS = {"topic": "Silk Road", "perspective": "", "conversation": ""}
DEMO = {**INPUTS, "question": "Who carried the silk?"}
HOW = Provenance("", "m", "labeled", "form", 0.2, 0.4, (0.1, 0.3), ("A",), ("B",), 0, 3)


def program(server: FakeModel, tmp_path: Path, **settings: Any) -> Any:
    return storm(server, tmp_path, contents=NoContents(), search=FakeSearch(world), **settings).program


def prompts(server: FakeModel) -> list[str]:
    return sorted(asked.prompt for asked in server.asked)


def compiled_question() -> Program:
    made = Programs().question.deepcopy()
    signature = made.predict.signature
    made.predict.signature = signature.with_instructions(f"{signature.instructions} Ask in five words.")
    made.predict.demos = [dspy.Example(**DEMO)]
    return made


def renamed(place: Path, name: str) -> None:
    """Say of a set's program that it is another one."""
    told = (place / "set.json").read_text("utf-8")
    (place / "set.json").write_text(told.replace('"question": {', f'"{name}": {{'), "utf-8")


def moved(place: Path, name: str) -> None:
    (place / "question.json").rename(place / f"{name}.json")


def write_set(place: Path) -> Path:
    add_to_set(place, "question", compiled_question(), HOW, {"storm-pipeline": "0", "dspy": dspy.__version__})
    return place


def test_it_writes_like_write_and_leaves_no_folder(steady: FakeModel, tmp_path: Path) -> None:
    made = program(steady, tmp_path / "a")(topic="Silk Road")
    once = prompts(steady)
    article = storm(steady, tmp_path / "b").write("Silk Road")
    assert prompts(steady) == sorted(once * 2)
    assert text(made.article) == text(article)
    assert made.outline == article.outline and made.conversations == article.conversations
    assert not list((tmp_path / "a").rglob("article.md"))


def told(conversations: Sequence[Conversation]) -> list[tuple[str, list[str]]]:
    """Questions and answers; an article cites what several pages say on one of them."""
    turns = (turn for own in conversations for turn in own.turns)
    return [(turn.question, [sentence.text for sentence in turn.answer]) for turn in turns]


def test_each_stage_is_a_module_that_sends_what_the_whole_pipeline_sends(steady: FakeModel, tmp_path: Path) -> None:
    whole = storm(steady, tmp_path / "whole", contents=NoContents(), search=FakeSearch(world))
    article = whole.write("Silk Road", "storm")
    once = set(prompts(steady))
    steady.asked.clear()
    found = StormProgram(whole, "research")(topic="Silk Road").conversations
    outline = StormProgram(whole, "outline")(topic="Silk Road", conversations=found).outline
    headings = [own.title for own in outline.sections]
    write = StormProgram(whole, "section")
    sections = [write(topic="Silk Road", outline=outline, conversations=found, heading=own).section for own in headings]
    assert told(found) == told(article.conversations) and outline == article.outline
    assert not set(prompts(steady)) - once
    assert [own.heading for own in sections] == headings and any(own.paragraphs for own in sections)
    lead = StormProgram(whole, "lead")(topic="Silk Road", sections=sections).lead
    assert [one.signature for one in steady.asked[-2:]] == ["WriteLead", "CheckSentences"]
    assert isinstance(lead, tuple)
    assert [name for name, _ in write.named_predictors()] == [name for name, _ in whole.program.named_predictors()]
    with pytest.raises(SettingsError, match="no stage 'nothing'"):
        StormProgram(whole, "nothing")  # type: ignore[arg-type]


def test_copied_saved_and_loaded_it_sends_the_same_requests(steady: FakeModel, tmp_path: Path) -> None:
    original = program(steady, tmp_path)
    original.programs.question = compiled_question()
    original(topic="Silk Road")
    once = prompts(steady)
    assert any("Ask in five words." in one for one in once)
    original.save(tmp_path / "saved.json")
    loaded = program(steady, tmp_path)
    loaded.load(tmp_path / "saved.json")
    for other in (original.deepcopy(), loaded, loaded.deepcopy()):
        steady.asked.clear()
        other(topic="Silk Road")
        assert prompts(steady) == once
    assert loaded.programs.fingerprints() == original.programs.fingerprints()
    assert "api_key" not in (tmp_path / "saved.json").read_text()


def test_evaluate_resubmits_and_pays_once(steady: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = functools.partial(parallelizer.ParallelExecutor, timeout=0.3)
    monkeypatch.setattr("dspy.evaluate.evaluate.ParallelExecutor", impatient)
    submitted: list[str] = []

    class Counting(BaseCallback):
        def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            if type(instance).__name__ == "StormProgram":
                submitted.append(call_id)

    class Slow:
        name = "slow"

        def search(self, query: str, k: int) -> Any:
            time.sleep(0.3)
            return FakeSearch(world).search(query, k)

    dev = [dspy.Example(topic="Silk Road").with_inputs("topic"), dspy.Example(topic="Amber Road").with_inputs("topic")]
    made = storm(steady, tmp_path, contents=NoContents(), search=Slow()).program
    evaluate = dspy.Evaluate(devset=dev, metric=lambda *_: True, num_threads=4)
    with dspy.context(callbacks=[Counting()]):
        assert evaluate(made).score == 100.0
    assert len(submitted) > len(dev)
    counted = [one.prompt for one in steady.asked if one.signature == "DraftOutline"]
    assert len(counted) == len(set(counted)) == 2


def test_an_optimiser_improves_the_whole_pipeline_and_its_examples_are_shown(steady: FakeModel, tmp_path: Path) -> None:
    student = program(steady, tmp_path)
    train = [dspy.Example(topic="Silk Road").with_inputs("topic")]
    tuned = BootstrapFewShot(metric=lambda *_: True, max_bootstrapped_demos=1, max_labeled_demos=0).compile(
        student, trainset=train
    )
    assert tuned.programs.question.predict.demos
    steady.asked.clear()
    tuned(topic="Amber Road")
    asked = [one.prompt for one in steady.asked if one.signature == "AskQuestion"]
    own = Programs().question.worked[0].question
    assert all("Silk Road" in one for one in asked)
    assert all(own in one for one in asked)  # the worked examples stay, before those


def test_a_set_is_used_by_a_run_and_its_name_is_all_that_is_saved(steady: FakeModel, tmp_path: Path) -> None:
    place = write_set(tmp_path / "set")
    storm(steady, tmp_path / "runs", programs=place).write("Silk Road")
    used = [one.prompt for one in steady.asked if one.signature == "AskQuestion"]
    assert used and all("Ask in five words." in one and "Who carried the silk?" in one for one in used)
    calls = len(steady.asked)
    storm(steady, tmp_path / "runs", programs=place).resume(folder(tmp_path / "runs"))
    assert len(steady.asked) == calls
    assert json.loads((folder(tmp_path / "runs") / "settings.json").read_text())["programs"] == str(place)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda place: (place / "set.json").unlink(), "is missing"),
        (lambda place: (place / "set.json").write_text("[]"), "is not a JSON object"),
        (lambda place: (place / "set.json").write_text("{"), "is not JSON"),
        (lambda place: (place / "set.json").write_text('{"format": 9}'), "this version reads 1"),
        (lambda place: (place / "question.json").unlink(), "is missing"),
        (lambda place: (place / "question.json").write_text("{}"), "was changed"),
        (lambda place: renamed(place, "queries"), "queries.json is missing"),
        (lambda place: renamed(place, "nothing"), "has a program 'nothing', which this version has not"),
        (lambda place: (renamed(place, "queries"), moved(place, "queries")), "not of WriteQueries"),
    ],
)
def test_a_set_that_is_tampered_with_is_refused(tmp_path: Path, change: Any, reason: str) -> None:
    place = write_set(tmp_path / "set")
    change(place)
    with pytest.raises(ProgramError, match=reason):
        _ = Storm(programs=place).programs


def test_half_of_a_surrogate_pair_in_a_set_is_replaced(tmp_path: Path) -> None:
    place = write_set(tmp_path / "set")
    text, record = ((place / name).read_text("utf-8") for name in ("question.json", "set.json"))
    changed = text.replace("Ask in five words.", "Ask \\ud800.").encode()
    sums = (hashlib.sha256(data).hexdigest() for data in (text.encode(), changed))
    (place / "question.json").write_bytes(changed)
    (place / "set.json").write_text(record.replace(*sums), "utf-8")
    assert "Ask \N{REPLACEMENT CHARACTER}." in Storm(programs=place).programs.question.predict.signature.instructions


def test_a_state_of_another_program_or_with_a_model_is_not_taken_over(tmp_path: Path) -> None:
    state = {name: one.dump_state() for name, one in Programs().queries.named_predictors()}
    with pytest.raises(ProgramError, match="fields"):
        Programs().question.load_state(state)
    own = {name: one.dump_state() for name, one in compiled_question().named_predictors()}
    own["predict"]["lm"] = {"class": "os.system", "model": "openai/x", "api_base": "http://evil.test"}
    loaded = Programs().question
    loaded.load_state(own)
    assert loaded.predict.lm is None
    assert loaded.fingerprint == compiled_question().fingerprint
    own["predict"]["demos"] = [{"question": ["no", "text"] * 3, "topic": 3}]
    own["predict"]["demos"][0].pop("question")
    with pytest.raises(ProgramError, match="form of a reply"):
        Programs().question.load_state(own)


def test_the_packages_set_is_for_the_embedded_model_alone_and_better_than_without() -> None:
    own = Programs()
    settings = Settings.build({"lm": "embedded"})
    assert settings.compiled_set
    shipped = read_set(settings.compiled_set)
    assert shipped.programs and all(one.model == "embedded" for one in shipped.programs.values())
    assert all(one.interval[0] > 0 and len(one.held_back) >= 10 for one in shipped.programs.values())
    used = Storm(lm="embedded").programs
    for name, program in own.named().items():
        changed = used.named()[name].fingerprint != program.fingerprint
        assert changed is (name in shipped.programs)
    others = ({"lm": "embedded", "programs": "off"}, {"lm": "embedded:0.5b"}, {"lm": "openai/gpt-4o"})
    for values in others:
        assert Storm(**values).programs.fingerprints() == own.fingerprints()


class AskThenReword(dspy.Module):
    """Two predictors, the second of which reads what the first one wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.draft = dspy.Predict(research.AskQuestion)
        self.reword = dspy.Predict(research.AskPlainQuestion)

    def forward(self, **inputs: object) -> dspy.Prediction:
        drafted = self.draft(**inputs).question
        return dspy.Prediction(question=self.reword(topic=inputs["topic"], language="", conversation=drafted).question)


def reworded(user: str) -> str:
    return "Tell me: " + user.rsplit("Conversation:", maxsplit=1)[-1].strip()


def reasoned(user: str) -> str:
    return json.dumps({"reasoning": "It is not known yet.", "question": answers()["AskQuestion"](user)})


MODULES: dict[str, tuple[type[dspy.Module] | Any, dict[str, Any]]] = {
    "two predictors": (AskThenReword, {"AskPlainQuestion": reworded}),
    "chain of thought": (lambda: dspy.ChainOfThought(research.AskQuestion), {"AskQuestion": reasoned}),
}


def programs(kind: str) -> Programs:
    return Programs().replace(question=Program(MODULES[kind][0]()))


@pytest.mark.parametrize("kind", MODULES)
def test_a_run_with_a_module_of_ones_own_is_stopped_and_resumed(tmp_path: Path, kind: str) -> None:
    with FakeModel(answers() | MODULES[kind][1]) as server:
        whole = storm(server, tmp_path / "whole", programs=programs(kind)).write("Silk Road")
        once = [asked.prompt for asked in server.asked]
        run = stopped(server, tmp_path, 11, programs=programs(kind))
        article = storm(server, tmp_path, programs=programs(kind)).resume(run)
    assert sorted(asked.prompt for asked in server.asked) == sorted(once * 2)
    assert text(article) == text(whole)
    assert article.usage.calls == len(once)  # type: ignore[union-attr]


def test_only_the_predictor_whose_reply_does_not_parse_is_asked_again() -> None:
    empty = [Reply(body=completion(" ")), Reply(body=completion("<think>Well"))]
    with FakeModel(answers() | {"AskPlainQuestion": reworded}, faults={"AskPlainQuestion": empty}) as server:
        chosen = Settings(lm=server.lm, lm_timeout=5)
        asking = LanguageModels.outside_a_run(open_models(chosen), chosen)
        reply = asking.ask("asker", Program(AskThenReword()), topic="Silk Road", perspective="", conversation="")
        asked = [one.signature for one in server.asked]
    assert reply.question == "Tell me: What is known about aspect 1 of Silk Road?"
    assert asked == ["AskQuestion", "AskPlainQuestion", "AskPlainQuestion", "AskPlainQuestion"]

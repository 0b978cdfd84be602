"""Experiments: methods side by side on the topics of a data set, gone on with at any unit, and reported."""

import json
import re
import resource
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest
from found_pages import page
from judge_llm import FakeModel
from llm import Answer, default_answers
from servers import Reply
from tokens import gpt_4_tokens
from typer.testing import CliRunner, Result
from wordnet_files import write_wordnet

from storm_bench.datasets.built import write_topics
from storm_bench.experiments import Experiment, ExperimentConfig, ExperimentStore, read_config, results_of
from storm_bench.experiments.forecast import forecast
from storm_bench.judge_calls import ASK_JUDGE, ASKS_MODEL
from storm_bench.reporting import ExperimentResults, load_results
from storm_bench.types import HumanArticle, HumanSection, Topic, TopicDocument
from storm_benchmarks.faults.disks import can_mount, small_disk
from storm_pipeline.errors import DatasetError, RunError, SettingsError
from storm_pipeline.interfaces.batch import open_executor
from storm_pipeline.interfaces.batch.executors import ThreadExecutor
from storm_pipeline.interfaces.cli import app
from storm_pipeline.run.article_json import from_json

ROOT = Path(__file__).resolve().parents[3]
CACHE = ROOT / "cache"
NAMES = {1: "Silk Road", 2: "Amber Road"}


def topic(number: int) -> Topic:
    name = NAMES[number]
    shown = [page(7 * number + i, name) for i in range(6)]
    documents = tuple(
        TopicDocument(one.url, one.title, one.text, "human" if i % 2 else "search") for i, one in enumerate(shown)
    )
    history = " ".join(page(200 + 9 * number + i, name).text for i in range(6))  # two chunks
    sections = (HumanSection("History", history), HumanSection("Goods", "Silk was sold."))
    human = HumanArticle(name, f"https://en.wikipedia.org/wiki/{name.replace(' ', '_')}", f"A {name}.", sections)
    return Topic(str(number), name, human, documents)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "bench"
    write_topics(folder, map(topic, NAMES))
    monkeypatch.setenv("STORM_DATA", str(folder.parent))
    return folder


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as server:
        yield server


def described(model: FakeModel, recipes: str = "direct rr orag", **values: Any) -> ExperimentConfig:
    settings = {
        "lm": model.lm,
        "perspectives": 1,
        "turns": 1,
        "call_attempts": 1,
        "max_failures": 0,
        "related_topics": 0,
    }
    plain = {
        "title": "A trial",
        "baseline": recipes.split(maxsplit=1)[0],
        "metrics": ["rouge", "shape", "cost"],
        "data": {"set": "wikigenbench", "path": "bench", "core": True},
        "search": {"corpus": "topic"},
        "settings": settings,
        "methods": [{"recipe": recipe} for recipe in recipes.split()],
    }
    return ExperimentConfig.model_validate(plain | values)


def run(config: ExperimentConfig, folder: Path, told: list[str] | None = None) -> ExperimentResults:
    tell = told.append if told is not None else (lambda _: None)
    with Experiment(config, folder, ThreadExecutor(), cache=CACHE, on_progress=tell) as experiment:
        return experiment.run()


def test_every_method_writes_once_about_every_topic_and_is_scored(data: Path, model: FakeModel, tmp_path: Path) -> None:
    results = run(described(model), tmp_path / "out")
    assert [(r.topic, r.method) for r in results.results] == list(product("12", ("direct", "rr", "orag")))
    assert not any(r.failure for r in results.results)
    assert all(r.values["rouge_1"] > 0 and r.values["calls"] for r in results.results)  # type: ignore[operator]
    assert {"rouge_1", "words_asked"} <= {measure.name for measure in results.measures}
    assert {r.values["words_asked"] for r in results.results if r.method != "orag"} == {2640}
    asked = len(model.asked)
    told: list[str] = []
    assert run(described(model), tmp_path / "out", told).results == results.results
    assert len(model.asked) == asked
    assert told == ["6 articles, 6 of them written"]
    data.rename(tmp_path / "gone")
    with ExperimentStore(tmp_path / "out") as store:
        assert results_of(store) == results, "a report needs neither data nor models"


def test_an_experiment_grows_by_methods_metrics_and_topics(data: Path, model: FakeModel, tmp_path: Path) -> None:
    small = described(model, "direct rr", metrics=["shape"]).with_overrides(topics=1)
    run(small, tmp_path / "out")
    asked = Counter(one.signature for one in model.asked)
    results = run(described(model, "direct rr orag"), tmp_path / "out")
    assert len(results.results) == 6
    assert all("rouge_1" in result.values for result in results.results)
    assert len(model.of("WriteFromMemory")) == 2 * asked["WriteFromMemory"]


def test_a_failed_article_is_a_row_and_is_retried(data: Path, tmp_path: Path) -> None:
    refusing = Reply(status=400, body={"error": {"message": "no such model"}})
    with FakeModel(faults={"WriteFromMemory": [refusing]}) as model:
        first = run(described(model, "direct rr").with_overrides(topics=1), tmp_path / "out")
        assert [bool(result.failure) for result in first.results] == [True, False]
        second = run(described(model, "direct rr").with_overrides(topics=1), tmp_path / "out")
        assert not any(result.failure for result in second.results)
        assert len(model.of("DraftOutline")) == 1  # what was bought is used again


def test_a_stopped_experiment_can_be_continued(data: Path, model: FakeModel, tmp_path: Path) -> None:
    config = described(model, "direct rr")
    experiment: Experiment

    def tell(line: str) -> None:
        if line.startswith("1/direct"):
            experiment.stop()

    with Experiment(config, tmp_path / "out", ThreadExecutor(), cache=CACHE, on_progress=tell) as experiment:
        results = experiment.run()
        assert len(results.results) == 1
        assert len(experiment.missing) == 3
        assert any("3 articles are still to be written" in note for note in results.notes)
    assert len(run(config, tmp_path / "out").results) == 4


def test_the_ground_truth_is_excluded(data: Path, model: FakeModel, tmp_path: Path) -> None:
    truth = topic(1)
    copied = TopicDocument(truth.human.url, "Silk Road - Wikipedia", truth.human.text() * 3, "search")
    write_topics(data, [Topic("1", "Silk Road", truth.human, (*truth.documents, copied))])
    run(described(model, "rr").with_overrides(topics=1), tmp_path / "out")
    article = from_json((tmp_path / "out/articles/1/rr/article.json").read_text("utf-8"))
    assert article.sources
    assert all("wikipedia.org" not in source.url for source in article.sources)


def test_the_upper_bound_reads_the_human_article(data: Path, model: FakeModel, tmp_path: Path) -> None:
    golden = {"name": "golden", "recipe": "rr", "search": {"corpus": "article"}}
    results = run(described(model, "rr", methods=[{"recipe": "rr"}, golden]).with_overrides(topics=1), tmp_path / "out")
    assert [result.failure for result in results.results] == ["", ""]
    article = from_json((tmp_path / "out/articles/1/golden/article.json").read_text("utf-8"))
    assert {source.url for source in article.sources} == {topic(1).human.url}


def test_outline_only_experiments(data: Path, model: FakeModel, tmp_path: Path) -> None:
    config = described(model, "direct rag storm", writes="outline", metrics=["heading_soft_recall", "cost"])
    results = run(config.with_overrides(topics=1), tmp_path / "out")
    assert [result.values["heading_soft_recall"] is not None for result in results.results] == [True] * 3
    assert all(result.values["calls"] for result in results.results)
    assert not model.of("WriteSection") + model.of("WriteFromMemory")


@pytest.mark.parametrize("name", ["usage", "conversations"])
def test_an_outline_comes_with_the_records_of_its_own_run(
    data: Path, model: FakeModel, tmp_path: Path, name: str
) -> None:
    config = described(model, "storm", writes="outline", metrics=["cost"]).with_overrides(topics=1)
    run(config, tmp_path / "out")
    unit = tmp_path / "out/articles/1/storm"
    (unit / "article.json").unlink()
    (unit / "zzz").mkdir()
    (unit / "zzz" / f"{name}.json").write_text("{", "utf-8")
    asked = len(model.asked)
    (again,) = run(config, tmp_path / "out").results
    assert (again.failure, again.values["calls"], len(model.asked)) == ("", asked, asked)


def test_an_article_of_a_foreign_folder_is_read_within_limits(data: Path, model: FakeModel, tmp_path: Path) -> None:
    run(described(model, "direct", metrics=["shape"]).with_overrides(topics=1), tmp_path / "out")
    article = tmp_path / "out/articles/1/direct/article.json"
    article.write_text("[" + "{}," * 1_000_001 + "{}]", "utf-8")
    found = command("report", str(tmp_path / "out"))
    assert (found.exit_code, "more than 1,000,000 lists and objects" in found.output) == (1, True), found.output
    assert "unexpected" not in found.output


JUDGING: dict[str, Answer] = {
    "JudgeSupport": json.dumps({"verdict": "no"}),
    "GradeOneToFive": json.dumps({"feedback": "Fine.", "score": 3}),
    "GradeZeroToFive": json.dumps({"feedback": "Fine.", "score": 3}),
    "GradeWriting": json.dumps({"fluency": 5, "informativeness": 0}),
    "AnswerFromArticle": "1931",
    "CompareAnswers": json.dumps({"same": 1}),
    "ClassifyUnsupported": json.dumps({"error": "inference"}),
    "FindStatement": json.dumps({"verdict": "absent"}),
}


def test_judging_matches_its_forecast(data: Path, tmp_path: Path) -> None:
    metrics = [*ASKS_MODEL, *(name for name in ASK_JUDGE if name not in ASKS_MODEL), "shape"]
    known = tuple((f"Field {n}", f"value {n}") for n in range(5))
    facts = {"infobox": known, "statements": tuple(f"Silk was sold in town {n}." for n in range(5))}
    write_topics(data, [replace(told, human=replace(told.human, **facts)) for told in map(topic, NAMES)])
    with FakeModel(JUDGING) as model:
        judges = {"judge": f"lm:{model.lm}", "judge_lm": model.lm}
        config = described(model, "rr storm", metrics=metrics, resources=judges)
        with Experiment(config, tmp_path / "out", ThreadExecutor(), cache=CACHE) as experiment:
            foretold = forecast(config, experiment.topics, experiment.missing, experiment.unscored)
            experiment.run()
            left = forecast(config, experiment.topics, experiment.missing, experiment.unscored)
        (judging,) = foretold.judging
        assert (judging.articles, judging.metrics) == (4, tuple(metrics[:-1]))
        assert judging.dollars is None
        asked = [one for one in model.asked if one.signature in JUDGING]
        assert len(asked) in judging.calls
        tokens = gpt_4_tokens()
        assert sum(tokens(one.prompt) for one in asked) in judging.tokens_in
        assert {one.signature for one in asked} == set(JUDGING)
    assert (left.articles, left.judging) == (0, ())


def test_each_seed_is_a_separate_run(data: Path, model: FakeModel, tmp_path: Path) -> None:
    results = run(described(model, "rr", seeds=[1, 2]).with_overrides(topics=1), tmp_path / "out")
    assert [result.seed for result in results.results] == [1, 2]


def test_an_unavailable_metric_is_reported_and_scored_once_it_becomes_available(
    data: Path, model: FakeModel, tmp_path: Path
) -> None:
    told: list[str] = []
    config = described(model, "rr", metrics=["shape", "meteor"], resources={"wordnet": str(tmp_path / "wordnet")})
    config = config.with_overrides(topics=1)
    results = run(config, tmp_path / "out", told)
    assert any(note.startswith("meteor is left out") for note in results.notes)
    assert any(line.startswith("meteor is left out") for line in told)
    assert not results.results[0].failure and "meteor" not in results.results[0].values
    write_wordnet(tmp_path / "wordnet")
    assert "meteor" in run(config, tmp_path / "out").results[0].values


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Ray leaves its own sockets to the collector
def test_a_ray_cluster_gives_the_same_results_even_if_workers_die(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 3)
    killed: list[int] = []

    def write(user: str) -> str:
        if not killed and (found := ray_workers()):
            killed.extend(worker.pid for worker in found)
            for worker in found:
                worker.kill()
        return article(user)

    article = default_answers()["WriteArticle"]
    assert callable(article)
    with FakeModel({"WriteArticle": write}) as model, tempfile.TemporaryDirectory(prefix="r") as short:
        monkeypatch.setenv("RAY_TMPDIR", short)
        config = described(model, "rr", metrics=["rouge", "shape"])
        with (
            open_executor("ray", at_once=2) as executor,
            Experiment(config, tmp_path / "spread", executor, cache=CACHE) as experiment,
        ):
            spread = experiment.run()
            assert not experiment.missing
        assert killed
        assert spread.results == run(config, tmp_path / "here").results


def ray_workers() -> list[psutil.Process]:
    """The processes below this one that do a job for Ray."""
    below = psutil.Process().children(recursive=True)
    return [one for one in below if one.is_running() and "ray::_run_in_worker" in " ".join(one.cmdline()[:1])]


def test_two_processes_do_not_share_a_folder(data: Path, model: FakeModel, tmp_path: Path) -> None:
    with ExperimentStore(tmp_path / "out"), pytest.raises(RunError, match="another process"):
        ExperimentStore(tmp_path / "out")


def test_a_folder_of_a_newer_version_is_refused(data: Path, model: FakeModel, tmp_path: Path) -> None:
    run(described(model, "rr").with_overrides(topics=1), tmp_path / "out")
    state = tmp_path / "out/experiment.json"
    state.write_text(json.dumps(json.loads(state.read_text("utf-8")) | {"format": 99}), "utf-8")
    with pytest.raises(RunError, match="newer version"):
        run(described(model, "rr").with_overrides(topics=1), tmp_path / "out")


@pytest.mark.parametrize(
    "state",
    [
        {"config": 3, "units": [], "metrics": {}, "facts": {}, "topics": {}, "notes": []},
        {"config": {}, "units": [], "metrics": {}, "facts": {}, "topics": {}, "notes": []},
        {"units": 3},
        {"units": [[1, 2]]},
        {"units": [["t"]]},
        {"metrics": {"shape": 3}},
        {"metrics": {"shape": {"measures": 3}}},
        {"metrics": {"shape": {"measures": [{}], "parameters": [], "judged": 7}}},
        {"facts": [1]},
        {"facts": {"a": 3}},
        {"topics": []},
        {"notes": [3]},
        {"places": 7},
        {"config": None},
    ],
)
def test_an_experiment_file_of_another_shape_is_refused(tmp_path: Path, state: dict[str, Any]) -> None:
    config = {
        "title": "T",
        "baseline": "rr",
        "metrics": ["shape"],
        "data": {"set": "freshwiki"},
        "methods": [{"recipe": "rr"}],
    }
    usual = {"config": config, "units": [], "metrics": {}, "facts": {}, "topics": {}, "notes": [], "places": []}
    (tmp_path / "experiment.json").write_text(json.dumps({"format": 1} | usual | state))
    found = command("report", str(tmp_path))
    assert "unexpected" not in found.output
    assert (found.exit_code, "Traceback" in found.output) == (1, False)


def test_a_folder_of_articles_with_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    for name in ("r" * 5000, "~nobody-of-this-name/x"):
        file.write_text(f'title = "T"\n[data]\nset = "freshwiki"\n[[methods]]\nname = "a"\nrecorded = "{name}"\n')
        found = command("estimate", str(file))
        assert "unexpected" not in found.output
        assert found.exit_code == 2


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["experiment", *arguments])


def config_file(model: FakeModel, tmp_path: Path) -> Path:
    file = tmp_path / "trial.toml"
    file.write_text(
        textwrap.dedent(f"""
        title = "A trial"
        baseline = "rr"
        metrics = ["rouge", "shape"]
        [data]
        set = "wikigenbench"
        path = "bench"
        [search]
        corpus = "topic"
        [settings]
        lm = "{model.lm}"
        call_attempts = 1
        [[methods]]
        recipe = "direct"
        [[methods]]
        recipe = "rr"
        [sizes.smoke]
        topics = 1
        methods = ["rr"]
        """),
        "utf-8",
    )
    return file


def test_the_command_writes_a_report(data: Path, model: FakeModel, tmp_path: Path) -> None:
    out = tmp_path / "out"
    file = str(config_file(model, tmp_path))
    done = command("run", file, "--size", "smoke", "--out", str(out), "--cache", str(CACHE))
    assert done.exit_code == 0, done.output
    assert "to be written: 1 articles" in done.output
    assert "rouge_1" in done.stdout
    results = load_results(out / "report" / "results.json")
    assert [result.method for result in results.results] == ["rr"]
    assert (out / "report" / "report.md").is_file()
    again = command("report", str(out), "--out", str(tmp_path / "elsewhere"))
    assert again.exit_code == 0, again.output
    assert (tmp_path / "elsewhere/report.md").read_bytes() == (out / "report/report.md").read_bytes()


@pytest.mark.parametrize("link", ["set/wiki", "set/wiki/9.json", "mine/1.md"])
def test_links_in_a_data_set_and_among_articles_are_not_followed(link: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "diary.txt").write_text("A secret.", "utf-8")
    whole = tmp_path / "elsewhere"
    for name in ("set", "mine"):
        (whole / name).mkdir(parents=True)
    target = tmp_path / "private" if link == "set/wiki" else tmp_path / "private" / "diary.txt"
    (whole / link).parent.mkdir(exist_ok=True)
    (whole / link).symlink_to(target)
    if link == "mine/1.md":
        write_topics(whole / "set", [topic(1)])
    file = whole / "x.toml"
    methods = '[[methods]]\nname="m\u009b31m"\nimported="mine"\n'
    data = f'[data]\nset="wikigenbench"\npath="{whole / "set"}"\n'
    file.write_text(f'title="x"\nbaseline="m\u009b31m"\nmetrics=["shape"]\n{data}{methods}', "utf-8")
    done = command("run", str(file), "--out", str(tmp_path / "out"))
    assert done.exit_code == 1, done.output
    assert "is a link" in done.output and "\x9b" not in done.output
    written = [file.read_text("utf-8") for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert not any("secret" in text for text in (done.output, *written))


@pytest.mark.parametrize("link", ["runs", "runs/experiments", "runs/experiments/trial", "data", "data/freshwiki"])
def test_nothing_is_written_through_a_link_of_the_current_folder(
    data: Path, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    (tmp_path / "current" / link).parent.mkdir(parents=True)
    (tmp_path / "current" / link).symlink_to(tmp_path / "victim")
    (tmp_path / "victim").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    fetched = link.startswith("data")
    done = command("data", "fetch", "freshwiki") if fetched else command("run", str(config_file(model, tmp_path)))
    assert done.exit_code == 1 and f"{link} is a link" in done.output
    assert ("an absolute path with --out or --to" in done.output) == (
        link not in ("runs/experiments/trial", "data/freshwiki")
    )
    assert not list((tmp_path / "victim").iterdir()) and not model.asked


@pytest.mark.parametrize("link", ["articles", "articles/1", "articles/1/rr"])
def test_no_article_is_written_or_deleted_through_a_link(
    data: Path, model: FakeModel, tmp_path: Path, link: str
) -> None:
    (tmp_path / "victim" / "x").mkdir(parents=True)
    (tmp_path / "victim" / "x" / "run.json").write_text("{}", "utf-8")
    (tmp_path / "out" / link).parent.mkdir(parents=True)
    (tmp_path / "out" / link).symlink_to(tmp_path / "victim")
    with pytest.raises(RunError, match=f"{link} is a link"):
        run(described(model, "rr", metrics=["shape"]).with_overrides(topics=1), tmp_path / "out")
    assert [path.name for path in (tmp_path / "victim").rglob("*")] == ["x", "run.json"]


@pytest.mark.parametrize("link", ["report", "report/plots"])
def test_a_report_is_not_written_through_a_link(tmp_path: Path, link: str) -> None:
    out, own = tmp_path / "out", tmp_path / "thesis"
    own.mkdir()
    (own / "report.md").write_text("mine", "utf-8")
    (own / "difference-1.svg").write_text("mine", "utf-8")
    (out / link).parent.mkdir(parents=True)
    (out / link).symlink_to(own)
    config = tmp_path / "trial.toml"
    config.write_text("", "utf-8")
    for done in (command("report", str(out)), command("run", str(config), "--out", str(out))):
        assert done.exit_code == 1 and "is a link" in done.output
    assert {file.read_text("utf-8") for file in own.iterdir()} == {"mine"} and len(list(own.iterdir())) == 2


@pytest.mark.parametrize(
    "unit",
    [
        ["../../private", "rr", None],
        ["/tmp", "rr", None],
        ["", "rr", None],
        ["1", "..", None],
        ["1", "", None],
        ["1", "rr", "../.."],
    ],
)
def test_a_strangers_experiment_names_no_article_elsewhere(
    unit: list[Any], data: Path, model: FakeModel, tmp_path: Path
) -> None:
    run(described(model, "rr", metrics=["shape"]).with_overrides(topics=1), tmp_path / "out")
    state = tmp_path / "out" / "experiment.json"
    state.write_text(json.dumps(json.loads(state.read_bytes()) | {"units": [unit]}), "utf-8")
    done = command("report", str(tmp_path / "out"))
    assert done.exit_code == 1 and "is damaged" in done.output


@contextmanager
def files_may_not_grow(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 300, 3_000, 9_000])
def test_an_experiment_on_a_full_disk_says_so_and_goes_on_later(
    data: Path, model: FakeModel, tmp_path: Path, size: int
) -> None:
    """Once for files that may not grow, and once on a small file system, where one can be mounted."""
    out = tmp_path / "small" / "out"
    write = ("run", str(config_file(model, tmp_path)), "--size", "smoke", "--out", str(out), "--cache", str(CACHE))
    with files_may_not_grow(size):
        limited = command(*write)
    outcomes = [(limited, "File too large")]
    if can_mount(tmp_path):
        with small_disk(tmp_path / "disk", max(4096, size)) as more:
            there = (*write[:5], str(tmp_path / "disk" / "out"), *write[6:])
            outcomes.append((command(*there), "No space left on device"))
            more()
            assert command(*there).exit_code == 0
    for done, reason in outcomes:
        assert done.exit_code == 1, done.output
        assert reason in done.output and "unexpected" not in done.output and "Traceback" not in done.output
    again = command(*write)
    assert again.exit_code == 0, again.output
    assert (out / "report" / "report.md").is_file()


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_that_the_embedded_model_judges_is_said(quiet: tuple[str, ...], data: Path, tmp_path: Path) -> None:
    broken = Reply(status=400, body={"error": {"message": "no such model"}})
    with FakeModel(faults={"WriteArticle": [broken] * 9, "PlanOutline": [broken] * 9}) as model:
        file = config_file(model, tmp_path)
        file.write_text(file.read_text("utf-8").replace('"shape"]', '"rubric"]'), "utf-8")
        there = ("--size", "smoke", "--out", str(tmp_path / "out"), "--cache", str(CACHE))
        done = command("run", str(file), *there, *quiet)
        other = command("run", str(file), *there, *quiet, "--judge-lm", "openai/gpt-4o")
    warning = "WARNING: the judge of rubric is embedded, a small model on this machine"
    assert done.stderr.count(warning) == 1
    assert ("to be judged" in done.stderr) == (not quiet)
    assert "WARNING" not in other.stderr


@pytest.mark.parametrize("method", ['recipe = "rr"', 'name = "rr"\nhuman = true'])
@pytest.mark.parametrize("option", [(), ("--max-tokens", "600")])
def test_the_users_caps_hold_for_articles_and_judges(
    method: str, option: tuple[str, ...], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORM_MAX_TOKENS", "10000000" if option else "600")
    with FakeModel(JUDGING) as model:
        file = config_file(model, tmp_path)
        said = f'call_attempts = 1\nmax_tokens = 5000000\n[resources]\njudge_lm = "{model.lm}"\n[[methods]]\n{method}'
        text = file.read_text("utf-8").replace('[[methods]]\nrecipe = "rr"', "").replace('"shape"]', '"rubric"]')
        file.write_text(text.replace("call_attempts = 1", said), "utf-8")
        there = ("--size", "smoke", "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"))
        done = command("run", str(file), *there, *option)
        assert done.exit_code == 1 and "max-tokens" in done.output, done.output
        assert len(model.asked) <= 1
        monkeypatch.setenv("STORM_MAX_TOKENS", "5000000")
        again = command("run", str(file), *there)
    assert again.exit_code == 0, again.output


def test_citations_are_judged_by_the_judge_that_is_named_or_by_nobody(data: Path, tmp_path: Path) -> None:
    with FakeModel(JUDGING) as model:
        file = config_file(model, tmp_path)
        file.write_text(file.read_text("utf-8").replace('"shape"]', '"citation_alce", "support_errors"]'), "utf-8")
        there = ("--size", "smoke", "--out", str(tmp_path / "out"), "--cache", str(CACHE), "--quiet")
        nobody = command("run", str(file), *there)
        unjudged = load_results(tmp_path / "out" / "report" / "results.json")
        told = (tmp_path / "out" / "report" / "report.md").read_text("utf-8")
        assert not model.of("JudgeSupport")
        named = command("run", str(file), *there, "--judge-lm", model.lm)
        judged = load_results(tmp_path / "out" / "report" / "results.json")
        assert model.of("JudgeSupport")
        screened = command("run", str(file), *there, "--judge", "screen")
    said = "WARNING: citation_alce, support_errors: no judge of citations is named, and the screen"
    assert [said in done.stderr for done in (nobody, named, screened)] == [True, False, False], nobody.output
    assert {done.exit_code for done in (nobody, named)} == {0}
    assert not [name for name in unjudged.results[0].values if name.startswith(("citation_", "error_", "unsupported"))]
    assert "| rr | screen: no judge | screen: no judge |" in nobody.stdout
    assert "| method | citation_recall_alce ↑ | citation_precision_alce ↑ |" in told
    assert "| rr | screen: no judge | screen: no judge |" in told
    assert "citation_recall_alce and citation_precision_alce: no judge of citations is named" in told
    assert {own.judge for own in judged.calibrations} == {"lm:openai/fake", "openai/fake"}
    assert judged.results[0].values["citation_recall_alce"] is not None
    assert re.search(r"^\| rr \| \d.* \| \d", screened.stdout, re.M)


def test_estimate_asks_nothing(data: Path, model: FakeModel, tmp_path: Path) -> None:
    file = config_file(model, tmp_path)
    file.write_text(file.read_text("utf-8").replace('"shape"]', '"shape", "rubric"]'), "utf-8")
    done = command("estimate", str(file))
    assert done.exit_code == 0, done.output
    assert "to be written: 4 articles" in done.stdout
    assert "to be judged by embedded for rubric: 4 articles, 16 calls" in done.stdout
    other = command("estimate", str(file), "--judge-lm", "openai/gpt-4o")
    assert "to be judged by openai/gpt-4o for rubric: 4 articles, 16 calls" in other.stdout
    assert not model.asked


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("baseline = 'none'", "baseline"),
        ("metrics = ['bleurt']", "bleurt"),
        ("metrics = []", "metrics"),
        ("[settings]\nturnz = 1", "turnz"),
        ("[settings]\nexclude_urls = ['x']", "exclude_urls"),
        ("[[methods]]\nrecipe = 'stormm'", "stormm"),
        ("[resources]\njudge = 5", "resources: invalid 'judge' 5: "),
        ("[resources]\njudge_form = 'promotheus'", "resources: invalid 'judge_form' 'promotheus': "),
        ("[resources]\nsettings = {}", "resources: unknown resource 'settings'"),
        ("[sizes.smoke]\ntopics = 0", "topics"),
        ("title = ", "not valid TOML"),
        ("spoon = 1", "spoon"),
    ],
)
def test_an_invalid_configuration_is_rejected_in_one_sentence(
    model: FakeModel, tmp_path: Path, change: str, said: str
) -> None:
    file = tmp_path / "wrong.toml"
    given = {"title": "'t'", "baseline": "'rr'", "metrics": "['shape']"}
    key = change.partition(" =")[0]
    given.pop(key, None)
    head = "\n".join(f"{name} = {value}" for name, value in given.items())
    top, table = ("", change) if change.startswith("[") else (change, "")
    rest = "[data]\nset = 'wikigenbench'\npath = 'bench'\n[[methods]]\nrecipe = 'rr'\n"
    file.write_text(f"{top}\n{head}\n{rest}{table}\n", "utf-8")
    done = command("run", str(file), "--out", str(tmp_path / "out"))
    assert done.exit_code == 2, done.output
    assert said in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("file", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda file: file.stem)
def test_the_shipped_configurations_are_valid_in_every_size(file: Path) -> None:
    config = read_config(file, allow_code=True)
    for size in ("full", *config.sizes):
        chosen = config.sized(size)
        for method in chosen.methods:
            chosen.settings_of(method)
    with pytest.raises(SettingsError, match="unknown size"):
        config.sized("enormous")


def test_a_missing_data_set_is_reported_with_a_remedy(model: FakeModel, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="STORM_DATA"):
        run(described(model), tmp_path / "out")

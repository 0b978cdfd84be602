"""Files that describe experiments: what is no file, and what is secret."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from special_files import SPECIAL, special_file

from storm_bench.datasets.built import write_topics
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.experiments.config import CAPS, read_config
from storm_bench.experiments.data import topics_of
from storm_bench.experiments.experiment_folder import ExperimentStore
from storm_bench.experiments.results import results_of
from storm_bench.types import HumanArticle, HumanSection, Topic
from storm_pipeline import settings
from storm_pipeline.errors import DatasetError, RunError, SettingsError

ROOT = Path(__file__).resolve().parents[3]
PASSWORD = "hunter2-s3cret"


@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = special_file(tmp_path / "t.toml", kind)
    with pytest.raises(SettingsError, match=r"t\.toml"):
        read_config(path)


@pytest.mark.parametrize("where", ["settings", "judge"])
def test_an_experiment_is_saved_without_passwords(where: str) -> None:
    config = read_config(ROOT / "experiments" / "freshwiki.toml")
    address = f"openai/m@http://me:{PASSWORD}@h/v1"
    with pytest.raises(SettingsError, match="NAME") as refused:
        if where == "judge":
            config.with_judges(judge=f"lm:{address}")
        else:
            config.with_overrides(settings={"lm": address})
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "why"), [("~nosuchuser/x", "who does not exist"), ("/", "root of a disk"), ("a" * 300, "too long")]
)
def test_a_path_that_leads_to_no_data_set_is_named(tmp_path: Path, path: str, why: str) -> None:
    file = tmp_path / "x.toml"
    data = f'[data]\nset="wiki_live"\npath="{path}"\n'
    file.write_text(f'title="x"\nbaseline="human article"\nmetrics=["shape"]\n{data}[[methods]]\nhuman=true\n')
    with pytest.raises((DatasetError, SettingsError), match=why):
        topics_of(read_config(file))


def test_a_compiled_set_of_an_unknown_user_is_named(tmp_path: Path) -> None:
    data = '[data]\nset="wiki_live"\npath="x"\n[[methods]]\nrecipe="storm@~nosuchuser/x"\n'
    (tmp_path / "x.toml").write_text(f'title="x"\nbaseline="s"\nmetrics=["shape"]\n{data}')
    with pytest.raises(SettingsError, match="who does not exist"):
        read_config(tmp_path / "x.toml")


@pytest.mark.parametrize("name", ["a\x1b[31m", "a\n", "a\x00", "a\x9b"])
def test_the_id_of_a_topic_has_no_control_characters(name: str) -> None:
    with pytest.raises(DatasetError, match="is not a file name"):
        Topic(name, "A", HumanArticle("A"))
    assert Topic("کتاب\u200cها", "A", HumanArticle("A")).id


def test_the_caps_of_experiments_are_those_of_runs() -> None:
    assert CAPS == settings.CAPS


@pytest.mark.parametrize("what", ["headings", "statements"])
def test_an_article_of_which_metrics_would_compare_very_much_is_left_out(tmp_path: Path, what: str) -> None:
    usual = HumanArticle("Silk", "", "A road.", (HumanSection("Goods", "Silk was sold."),))
    parts = {"headings": ("sections", usual.sections * 1001), "statements": ("statements", ("Silk was sold.",) * 1001)}
    long = replace(usual, **dict([parts[what]]))
    write_topics(tmp_path, [Topic("1", "Silk", usual), Topic("2", "Silk", long)])
    read = read_wikigenbench(tmp_path)
    assert [topic.id for topic in read.topics] == ["1"]
    assert f"2.json.gz has more than 1,000 {what}" in read.problems[0]


def test_notes_are_searched_for_a_bounded_number_of_paths(tmp_path: Path) -> None:
    methods = [{"name": f"m{n}", "imported": f"/b/{n}"} for n in range(10_000)]
    config = {"title": "t", "baseline": "m0", "metrics": ["shape"], "data": {"set": "freshwiki", "path": "/d"}}
    config |= {"methods": methods, "notes": ["in /b/1" + " /b/x" * 100_000]}
    state = {"format": 1, "config": config, "units": [], "metrics": {}, "facts": {}, "topics": {}, "notes": []}
    (tmp_path / "experiment.json").write_text(json.dumps(state))
    with ExperimentStore(tmp_path, read_only=True) as store:
        assert results_of(store).notes[0].startswith("in 1 /b/x /b/x")
        store.state["units"] = [["a", "m0"]] * 2
        with pytest.raises(RunError, match="is damaged"):
            results_of(store)

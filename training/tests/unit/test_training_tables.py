"""Tables from rows, settings from a file, and a whole run in a world of four questions."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from training_helpers import pairs

from storm_training import laboratory, languages
from storm_training.errors import TrainingError
from storm_training.languages import SHARES
from storm_training.loop import Steps
from storm_training.ppo import PpoSettings
from storm_training.reward_model import CELLS
from storm_training.settings import RunSettings, WorldSettings
from storm_training.tables import interval, make, read, tables

ROOT = Path(__file__).resolve().parents[3]
SMALL = RunSettings(
    seeds=1,
    world=WorldSettings(
        questions=64,
        error_rate=0.1,
        judged=32,
        held_out=8,
        prompts=8,
        tests=8,
        hidden=32,
        layers=1,
        most_tokens=48,
        taught=8,
    ),
    fine_tuning=Steps(steps=120, batch=8, rate=2e-2, warmup=5),
    reward_model=Steps(steps=2, batch=8),
    baselines=Steps(steps=2, batch=8),
    ppo=PpoSettings(iterations=1, batch=8, minibatch=8, epochs=1),
)


def row(model, seed, by_sentence, style="outlined"):
    scores = {"coherence": 1.0, "helpfulness": 1.0, "by_query": by_sentence, "by_sentence": by_sentence, "length": 12.0}
    times = {"reward_model_seconds": 1.0, "rl_seconds": 3.0 if "sentence" in model else 1.0}
    told = {"ranking": 0.8, "ranking_after": 0.7, "kl": 2.0, "iterations": 12.0}
    return {"model": model, "style": style, "seed": seed, **scores, **times, **told}


def test_an_interval_is_students():
    assert interval([0.5]) == "0.500"
    assert interval([0.4, 0.6]) == "0.500 ± 1.271"  # t(1) = 12.71, s/√n = 0.1
    assert interval([0.4, 0.5, 0.6]) == "0.500 ± 0.248"  # t(2) = 4.303, s/√n = 0.0577


def test_the_documentation_has_every_ordering_of_the_rows_that_are_kept():
    told = (ROOT / "docs/lab/training.md").read_text("utf-8").replace("−", "-").replace("**", "").replace("+", "")
    orderings = tables(read(ROOT / "experiments/training/tables")).partition("orderings\n\n")[2].splitlines()[2:]
    assert len(orderings) > 15
    for name, _, difference, published, holds in (line.strip("| ").split(" | ") for line in orderings):
        assert f"| {difference} | {published.replace('+', '')} | {holds} |" in told, name


def test_tables_have_times_and_orderings():
    rows = [row(model, seed, value) for model, value in (("holistic", 0.6), ("sentence", 0.7)) for seed in (0, 1)]
    rows[3] = row("sentence", 1, 0.5)
    text = tables(rows)
    assert "| outlined | sentence | 1.000 ± 0.000 | 1.000 ± 0.000 | 0.600 ± 1.271 |" in text
    assert "| 2 | 0.989, 0.960, 0.879, 0.987 |" in text
    assert "| sentence ≥ holistic (sequence) | by_sentence | 0.000 ± 1.271 | +0.007 | 1 of 2 |" in text
    assert "| sentence | 1.0 | 3.0 | 4.0 | +100.0% | +51.7% |" in text
    assert "| sentence | 0.800 ± 0.000 | 0.700 ± 0.000 | 2.000 ± 0.000 | 12 |" in text
    assert "subclaim ≥ sentence" not in text
    alone = tables([row("sentence+token", 0, 0.5), row("sentence", 0, 0.5), row("holistic", 0, 0.5)])
    assert "| sentence+token | 1.0 | 3.0 | 4.0 | – | +51.6% |" in alone  # only a holistic cell of its kind is compared


def test_a_run_trains_all_rows_once(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    four = [item for item, _ in pairs()[:4]]
    monkeypatch.setattr(laboratory, "items", lambda count, _seed, **_: [four[at % 4] for at in range(count)])
    monkeypatch.setattr(languages, "items", laboratory.items)
    monkeypatch.setattr("storm_training.curves.draw", lambda *_: None)  # tested with the stages
    ratios = ["1:3"]
    monkeypatch.setattr("storm_training.tables.SHARES", {ratio: SHARES[ratio] for ratio in ratios})
    said = []
    make(SMALL, tmp_path, said.append, models=["-"])
    assert said == ["seed 0, outlined, -", "seed 0, unplanned, -", "seed 0, original, -"]
    text = make(SMALL, tmp_path, said.append)
    rows = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    styles = ["outlined", "unplanned", "original", "bilingual"]
    rows.sort(key=lambda one: (styles.index(one["style"]), one["model"] != "-"))  # those of the first call come first
    names = [(one["style"], one["model"]) for one in rows]
    models = ["-", *(cell.name for cell in CELLS), "unlikelihood", "filtering"]
    models += [f"true {level}" for level in ("holistic", "sentence", "subclaim")]
    assert names[:12] == [("outlined", name) for name in models]
    taught = [("original", f"{count} epochs") for count in (1, 5, 10)]
    assert names[12:18] == [("unplanned", "-"), ("original", "-"), ("original", "subclaim"), *taught]
    assert names[18:] == [("bilingual", ratio) for ratio in ratios]
    assert all(0 <= one["by_sentence"] <= 1 for one in rows)
    assert (tmp_path / "tables.md").read_text() == text
    assert (tmp_path / "outlined-subclaim-0" / "curve.csv").exists()
    monkeypatch.setattr("storm_training.tables.prepare", lambda *_: pytest.fail("what is there is trained again"))
    assert make(SMALL, tmp_path, said.append) == text
    assert len(said) == 18 + len(ratios)
    for text in ('{"seed": 0}\n', "[" * 9, "[1]\n"):
        (tmp_path / "results.jsonl").write_text(text)
        with pytest.raises(TrainingError, match=r"results\.jsonl is damaged"):
            make(SMALL, tmp_path, said.append)


def test_the_share_of_a_language_is_told_for_both():
    def told(ratio, seed, first, second):
        scores = {"coherence": first, "helpfulness": first, "by_sentence": 0.7}
        return {"model": ratio, "style": "bilingual", "seed": seed, **scores} | {
            f"second_{name}": second if name != "by_sentence" else 0.7 for name in scores
        }

    text = tables([told("1:10", 0, 0.9, 0.2), told("10:1", 0, 0.3, 0.8), told("10:1", 1, 0.3, 0.9)])
    assert "| 1:10 | 0.900 | 0.900 | 0.700 | 0.200 | 0.200 | 0.700 | 1 |" in text
    assert "| coherence | 0.600 | 0.600 | rises |" in text  # of the seed that has both
    assert "| by_sentence | 0.000 | 0.000 | stays |" in text


def test_settings_come_from_a_file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("seeds = 2\n[world]\ntests = 50\n[ppo]\nbeta = 0.1\n")
    found = RunSettings.read(path)
    assert (found.seeds, found.world.tests, found.ppo.beta) == (2, 50, 0.1)
    assert found.ppo == replace(RunSettings().ppo, beta=0.1)


@pytest.mark.parametrize(
    ("text", "named"),
    [("sead = 1", "sead"), ("[ppo]\nbetta = 1", "ppo.betta"), ("seeds = 0", "seeds"), ("seeds", "cannot be read")],
)
def test_a_wrong_setting_is_named(tmp_path, text, named):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(TrainingError, match=named):
        RunSettings.read(path)

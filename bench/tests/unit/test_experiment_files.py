"""Files that describe experiments: what is no file, and what is secret."""

from pathlib import Path

import pytest
from special_files import SPECIAL, special_file

from storm_bench.experiments.config import read_config
from storm_pipeline.errors import SettingsError

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

"""Where downloads are kept when nobody says."""

from pathlib import Path

import platformdirs
import pytest

from storm_pipeline.configuration.variables import default_cache, user_configuration
from storm_pipeline.settings import Settings


def test_storm_home_holds_cache_and_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STORM_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "cache" == Settings().cache
    assert user_configuration() == tmp_path / "storm.toml"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_it_they_are_where_the_platform_has_them(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("STORM_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("STORM_HOME", value)
    assert default_cache() == platformdirs.user_cache_path("storm-pipeline", appauthor=False)
    assert user_configuration().parent == platformdirs.user_config_path("storm-pipeline", appauthor=False)
    assert Settings().cache.is_absolute()


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_HOME", "~/storm")
    assert default_cache() == Path.home() / "storm" / "cache"

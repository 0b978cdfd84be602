"""Where settings come from: the caller, the environment, and files."""

import os
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.configuration.layers import configuration, load_settings
from storm_pipeline.settings import Settings
from storm_pipeline.text.configuration.variables import default_cache, use_files, user_configuration, variable

PLACES = ["caller", "STORM_TURNS", "named.env", "named.toml", "storm.toml", "pyproject.toml", "user"]
"""From the highest precedence to the lowest."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a home of its own and no variables of the package."""
    for name in [name for name in os.environ if name.startswith("STORM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(work)
    return work


def put(folder: Path, place: str, toml: str) -> None:
    """Write settings into one of the files."""
    if place == "pyproject.toml":
        toml = f"[project]\nname = 'x'\n[tool.storm]\n{toml}"
    file = folder.parent / "home" / "storm.toml" if place == "user" else folder / place
    file.write_text(toml, "utf-8")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.dictionaries(st.sampled_from(PLACES), st.integers(1, 20)))
def test_the_highest_place_wins(folder: Path, values: dict[str, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        given = {"turns": values["caller"]} if "caller" in values else {}
        patch.delenv("STORM_TURNS", raising=False)
        if "STORM_TURNS" in values:
            patch.setenv("STORM_TURNS", str(values["STORM_TURNS"]))
        for place in PLACES[3:]:
            put(folder, place, f"turns = {values[place]}" if place in values else "")
        (folder / "named.env").write_text(f"STORM_TURNS={values.get('named.env', '')}")
        use_files(folder / "named.toml", folder / "named.env")
        expected = next((values[place] for place in PLACES if place in values), Settings().turns)
        assert load_settings(given).turns == expected


def test_places_complement_each_other_and_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "user", 'article_language = "de"')
    put(folder, "pyproject.toml", "turns = 3")
    put(folder, "storm.toml", 'style = "plain"')
    put(folder, "named.toml", 'search = "wikipedia"')
    use_files(folder / "named.toml")
    monkeypatch.setenv("STORM_DOMAINS", "a.example, b.example")
    found = configuration({"lm": "a/b"})
    assert {name: one.origin for name, one in found.items()} == {
        "article_language": str(folder.parent / "home" / "storm.toml"),
        "turns": "[tool.storm] in pyproject.toml",
        "style": "storm.toml",
        "search": str(folder / "named.toml"),
        "domains": "STORM_DOMAINS",
        "lm": "",
    }
    assert load_settings().domains == ("a.example", "b.example")


def test_a_named_env_file_sets_what_the_environment_does_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_TURNS", "7")
    for name in ("OPENAI_API_KEY", "STORM_PERSPECTIVES"):
        monkeypatch.setenv(name, "")  # so that they are restored
        monkeypatch.delenv(name)
    (folder / ".env").write_text('STORM_TURNS=2\nexport STORM_PERSPECTIVES=3\nOPENAI_API_KEY="a $key"\nEMPTY\n')
    assert load_settings().perspectives == Settings().perspectives
    use_files(env=folder / ".env")
    found = load_settings()
    assert (found.turns, found.perspectives) == (7, 3)
    assert variable("OPENAI_API_KEY") == "a $key"
    assert not os.environ.keys() & {"OPENAI_API_KEY", "EMPTY", "STORM_PERSPECTIVES"}


def test_a_depth_overrides_the_preset_of_lower_places(folder: Path) -> None:
    put(folder, "storm.toml", "turns = 9\nperspectives = 1\nqueries = 2")
    found = load_settings({"depth": "1", "perspectives": "4"})
    assert (found.turns, found.perspectives, found.queries) == (3, 4, 2)


def test_another_model_does_not_inherit_an_endpoint_or_a_key(folder: Path) -> None:
    put(folder, "user", 'lm = "openai/qwen"\napi_base = "http://localhost:1/v1"\napi_key_env = "MINE"')
    assert load_settings().api_base == "http://localhost:1/v1"
    found = load_settings({"lm": "anthropic/claude-sonnet-4-5"})
    assert (found.api_base, found.api_key_env) == (None, None)


@pytest.mark.parametrize(
    ("place", "toml", "says"),
    [
        ("storm.toml", "perspectives = 99", r"'perspectives' cannot be 99 \(--perspectives\).*\(from storm.toml\)"),
        ("pyproject.toml", "turns = 'x'", r"'turns'.*from \[tool.storm\] in pyproject.toml"),
        ("storm.toml", "perspektives = 2", r"storm.toml: .*'perspektives'; did you mean 'perspectives'"),
        ("storm.toml", "article-language = 'de'", "did you mean 'article_language'"),
        ("storm.toml", "xyz = 2", "see `storm write --help-all`"),
        ("storm.toml", "openai_api_key = 'sk-secret'", "keys do not belong in it"),
        ("user", "api_key_env = 'sk-secret'", "the name of an environment variable.*from .*storm.toml"),
        ("storm.toml", "turns = ", "not valid TOML"),
        ("storm.toml", f"turns = 0x{'f' * 6000}", r"'turns' cannot be so much.*from storm.toml"),
        ("pyproject.toml", "[[tool.storm]]", "not valid TOML"),
        ("STORM_MAX_COST", "much", r"--max-cost.*from STORM_MAX_COST"),
    ],
)
def test_errors_name_the_place_and_the_option_but_no_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, toml: str, says: str
) -> None:
    if place.isupper():
        monkeypatch.setenv(place, toml)
    else:
        put(folder, place, toml)
    with pytest.raises(SettingsError, match=says) as error:
        load_settings()
    assert "secret" not in str(error.value)


def test_a_table_that_is_none_is_refused(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool]\nstorm = 3\n")
    with pytest.raises(SettingsError, match="not a table"):
        load_settings()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "ignore"))))
def test_any_file_is_read_or_refused(folder: Path, content: bytes) -> None:
    (folder / "storm.toml").write_bytes(content)
    try:
        load_settings()
    except SettingsError as error:
        assert "storm.toml" in str(error)


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_it_they_are_where_the_platform_has_them(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("STORM_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("STORM_HOME", value)
    assert default_cache() == platformdirs.user_cache_path("storm-pipeline", appauthor=False)
    assert user_configuration().parent == platformdirs.user_config_path("storm-pipeline", appauthor=False)
    assert Settings().cache.is_absolute()


@pytest.mark.parametrize("models", [{"critic": "openai/gpt-4o"}, {"writer": 3}])
def test_what_is_no_role_or_no_model_is_refused(models: Any) -> None:
    with pytest.raises(SettingsError, match=r"critic|int"):
        Storm(models=models)

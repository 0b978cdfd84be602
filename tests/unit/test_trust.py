"""What files decide by themselves, what only with the user's consent, and which key is sent where."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from storm_pipeline.batch import read_topics
from storm_pipeline.cli import app
from storm_pipeline.configuration.layers import configured, files_of
from storm_pipeline.configuration.providers import KEYS, PROVIDERS
from storm_pipeline.configuration.trust import CAPS, CONTENT, consents, is_content, remember, revoke
from storm_pipeline.configuration.variables import child_environment, variable
from storm_pipeline.errors import SettingsError, UntrustedError
from storm_pipeline.models.keys import key_use
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.saved_settings import changed_settings, claim_of, remember_own, usable_settings
from storm_pipeline.search.registry import Choice, engines
from storm_pipeline.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a home of its own, no variables of the package, and every provider's key."""
    for name in [name for name in os.environ if name.startswith("STORM_") or name.endswith(("_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    for one in PROVIDERS:
        monkeypatch.setenv(one.variables[0], f"key-of-{one.name}")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def run(*arguments: str, answers: str = "") -> Result:
    return CliRunner(env={"COLUMNS": "300", "TERM": "dumb"}).invoke(app, list(arguments), input=answers)


def toml(values: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def by_toml(values: Mapping[str, Any]) -> Settings:
    Path("storm.toml").write_text(toml(values))
    return configured()


def by_trusted_toml(values: Mapping[str, Any]) -> Settings:
    Path("storm.toml").write_text(toml(values))
    run("trust")
    return configured()


def by_env_file(values: Mapping[str, Any]) -> Settings:
    Path(".env").write_text("".join(f"STORM_{name.upper()}={value}\n" for name, value in values.items()))
    return configured()


def by_project(values: Mapping[str, Any]) -> Settings:
    Path("pyproject.toml").write_text(f"[tool.storm]\n{toml(values)}")
    return configured()


def by_users_file(values: Mapping[str, Any]) -> Settings:
    home = Path(os.environ["STORM_HOME"])
    home.mkdir()
    (home / "storm.toml").write_text(toml(values))
    return configured()


def by_environment(values: Mapping[str, Any]) -> Settings:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(f"STORM_{name.upper()}", value)
        return configured()


def by_topics(values: Mapping[str, Any], *, allow: bool = False) -> Settings:
    Path("topics.jsonl").write_text(json.dumps({"topic": "Silk Road", **values}))
    (request,) = read_topics("topics.jsonl", values if allow else ())
    return Settings.build(request.settings)


def by_run(values: Mapping[str, Any], *, own: bool = False) -> Settings:
    with RunStore.create(Path("runs"), "Silk Road", "storm") as store:
        store.begin(Settings.build(values))
        saved = store.saved_settings()
        if own:
            remember_own(claim_of(store, saved))
        return changed_settings(usable_settings(store, saved, Settings()), Settings())


USERS: dict[str, Callable[[Mapping[str, Any]], Settings]] = {
    "option": configured,
    "environment": by_environment,
    "user's storm.toml": by_users_file,
    "trusted storm.toml": by_trusted_toml,
    "topics file, allowed": lambda values: by_topics(values, allow=True),
    "run of one's own": lambda values: by_run(values, own=True),
}
OTHERS: dict[str, Callable[[Mapping[str, Any]], Settings]] = {
    "storm.toml": by_toml,
    "pyproject.toml": by_project,
    ".env": by_env_file,
    "topics file": by_topics,
    "run from elsewhere": by_run,
}
ADDRESS = "http://localhost:9/v1"
PLACES: dict[str, Callable[[str], dict[str, str]]] = {
    "": lambda name: {"lm": f"{name}/m"},
    "api_base": lambda name: {"lm": f"{name}/m", "api_base": ADDRESS},
    "@": lambda name: {"lm": f"{name}/m@{ADDRESS}"},
    "role": lambda name: {"lm": f"{name}/m", "writer_lm": f"{name}/n@{ADDRESS}"},
}


@pytest.mark.parametrize("place", PLACES, ids=lambda one: one or "its own address")
@pytest.mark.parametrize("source", [*USERS, *OTHERS])
def test_a_key_goes_only_where_the_users_word_sends_it(source: str, place: str) -> None:
    for provider in PROVIDERS:
        values = PLACES[place](provider.name)
        if source in OTHERS:
            with pytest.raises(SettingsError, match=r"storm trust|--allow-columns"):
                OTHERS[source](values)
            continue
        settings = USERS[source](values)
        used = key_use(settings.lm_of("writer"), settings)
        assert (used.variable, used.key) == (provider.variables[0], f"key-of-{provider.name}")
        assert used.address == (ADDRESS if place else "")
        if source == "user's storm.toml":
            (Path(os.environ["STORM_HOME"]) / "storm.toml").unlink()
            Path(os.environ["STORM_HOME"]).rmdir()


def test_a_named_key_goes_to_the_address_of_its_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "my-key")
    values = {"lm": f"openai/a@{ADDRESS}", "api_key_env": "MINE", "asker_lm": f"openai/b@{ADDRESS}"}
    settings = Settings.build({**values, "writer_lm": "anthropic/c", "expert_lm": "openai/d@http://localhost:8/v1"})
    assert {
        role: key_use(settings.lm_of(role), settings).key for role in ("asker", "outliner", "writer", "expert")
    } == {
        "asker": "my-key",
        "outliner": "my-key",
        "writer": "key-of-anthropic",
        "expert": "key-of-openai",
    }
    assert "my-key" not in repr(key_use(settings.lm, settings))


def test_the_closed_list() -> None:
    assert CONTENT | set(CAPS) <= set(Settings.model_fields)
    power = "lm api_base api_key_env embedder programs cache out prices search workers attempts search_cache"
    assert not CONTENT & {*power.split(), "wikipedia_contents"}
    assert not any("lm" in name or name.endswith(("_base", "_env")) for name in CONTENT)


@pytest.mark.parametrize("spec", ["auto", "wikipedia", "wikipedia:de", "fused:wikipedia:de+arxiv", "first:you>brave"])
def test_engines_that_any_file_may_name(spec: str) -> None:
    assert is_content("search", spec)


@given(st.text(min_size=1, max_size=30), st.sampled_from([one.base_name for one in engines()]))
def test_no_path_and_no_address_is_content(argument: str, engine: str) -> None:
    for spec in (f"{engine}:/{argument}", f"fused:wikipedia+{engine}:./{argument}", f"{engine}:http://{argument}"):
        assert not is_content("search", spec)
    assert not is_content("search", f"searxng:${{{argument}}}")


def test_env_sets_keys_and_the_packages_own_variables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    bad = "PYTHONPATH GIT_SSH_COMMAND OPENAI_API_BASE LD_PRELOAD HTTP_PROXY PIP_INDEX_URL STORM_HOME".split()
    bad += ["SEARXNG_URL", "KIWIX_URL"]
    Path(".env").write_text("OPENAI_API_KEY=mine\nSTORM_API_TOKEN=secret\n" + "".join(f"{one}=x\n" for one in bad))
    before = dict(os.environ)
    with pytest.raises(UntrustedError, match="STORM_API_TOKEN"):
        configured()
    assert (variable("OPENAI_API_KEY"), variable("STORM_API_TOKEN")) == ("mine", "")
    result = run("trust")
    assert "STORM_API_TOKEN" in result.stdout and "secret" not in result.stdout
    configured()
    assert variable("STORM_API_TOKEN") == "secret"
    assert dict(os.environ) == before
    assert [variable(one) for one in bad if one not in before] == [""] * len([one for one in bad if one not in before])


def test_the_variables_of_engines_are_known_but_no_address() -> None:
    named = {name for one in engines() for name in (*one.variables, *one.optional_variables)}
    assert named - KEYS == {"SEARXNG_URL", "KIWIX_URL"}


def test_children_get_no_keys_and_nothing_that_changes_what_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "GIT_CONFIG_GLOBAL", "STORM_API_TOKEN", "MY_SECRET", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PIP_INDEX_URL", "https://user@index.example")
    left = child_environment()
    assert left["PATH"] and left["PIP_INDEX_URL"]
    assert not any(name.endswith(("KEY", "TOKEN", "SECRET")) or name.startswith(("PYTHONP", "GIT_")) for name in left)


def test_what_is_trusted_is_the_very_value(folder: Path) -> None:
    assert by_trusted_toml({"lm": "openai/a", "length": "short"}).lm == "openai/a"
    assert by_toml({"lm": "openai/a", "length": "long"}).length == "long"
    with pytest.raises(UntrustedError):
        by_toml({"lm": "openai/b"})
    assert configured({"lm": "openai/c"}).lm == "openai/c"  # nobody asks for what an option overrides
    assert configured(without_untrusted=True).lm == "embedded"
    (claim,) = (file.claim for file in files_of(folder) if file.claim)
    remember(claim)
    assert configured().lm == "openai/b"
    assert revoke(folder) == 2
    assert consents() == ()
    with pytest.raises(UntrustedError):
        configured()


def test_another_folder_with_the_same_file_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_trusted_toml({"lm": "openai/a"})
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    with pytest.raises(UntrustedError):
        by_toml({"lm": "openai/a"})


def test_caps_of_a_folder_only_lower_the_users() -> None:
    by_users_file({"max_cost": 1.0})
    assert by_toml({"max_cost": 0.5, "max_tokens": 5}).max_cost == 0.5
    assert by_toml({"max_cost": 1000}).max_cost == 1.0
    assert configured({"max_cost": 7}).max_cost == 7


def test_init_trusts_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.search.registry.choose", lambda: Choice("wikipedia", "since it is"))
    assert run("init", answers="gpt-4o\nwikipedia\nde\n1500\n0.5\n").exit_code == 0
    assert configured().lm == "openai/gpt-4o"


@pytest.mark.parametrize(("answer", "lm"), [("y\n", "openai/a"), ("n\n", "embedded")])
def test_a_terminal_is_asked_once(answer: str, lm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.cli.consent.is_interactive", lambda: True)
    Path("storm.toml").write_text('lm = "openai/a"\nturns = 99\n')
    assert run("estimate", "Silk Road", answers=answer).exit_code == 2  # first of all it has to be valid
    Path("storm.toml").write_text('lm = "openai/a"\nsearch = "corpus:nowhere"\n')
    result = run("estimate", "Silk Road", "--json", "--recipe", "direct", answers=answer)
    assert 'lm = "openai/a"' in result.stderr and "Do you trust this?" in result.stderr
    assert [one.counts for one in consents()] == ([True] if answer == "y\n" else [])
    assert configured(without_untrusted=True).lm == lm


def test_an_own_run_is_known_wherever_it_is_moved(folder: Path) -> None:
    values = {"lm": "openai/a", "api_base": ADDRESS}
    assert by_run(values, own=True).api_base == ADDRESS
    (old,) = Path("runs").iterdir()
    old.rename(folder / "elsewhere")
    with RunStore.open(folder / "elsewhere") as store:
        saved = store.saved_settings()
        assert usable_settings(store, saved, Settings()) == saved
        with pytest.raises(UntrustedError):
            usable_settings(store, {**saved, "api_base": "http://evil.test"}, Settings())
        given = Settings(lm="openai/b")
        changed = changed_settings(usable_settings(store, {**saved, "api_base": "http://evil.test"}, given), given)
    assert (changed.lm, changed.api_base) == ("openai/b", None)


def test_a_state_that_cannot_be_written_or_read_is_survived(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "file"))
    with RunStore.create(Path("runs"), "Silk Road", "storm") as store:
        assert "storm trust" in remember_own(claim_of(store, {"lm": "openai/a"}))
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    by_trusted_toml({"lm": "openai/a"})
    records = tmp_path / "home" / "state" / "trusted"
    for name, damaged in {
        "a": b"\xff",
        "b": b'{"digest": 3',
        "c": b"[]",
        "d": b'{"digest": "d"}',
        "e": b'{"x": 1}',
    }.items():
        (records / f"{name}.json").write_bytes(damaged)
    assert configured().lm == "openai/a"
    assert len(consents()) == 1


def test_a_list_shows_what_was_decided() -> None:
    by_trusted_toml({"lm": "openai/a"})
    assert "trusted" in run("trust", "--list").stdout
    assert run("trust", "--never").exit_code == 0
    assert configured().lm == "embedded"
    assert "left out" in run("trust", "--list").stdout
    assert "forgotten: 1" in run("trust", "--revoke").stdout
    assert run("trust", "nowhere").exit_code == 2


@pytest.mark.slow
def test_litellm_reads_no_env_file_beside_its_environment() -> None:
    """It would look for one from its own folder upwards, which is a project's where its environment lies in it."""
    code = (
        "import dotenv, os; dotenv.load_dotenv = lambda *a, **k: os._exit(3)\n"
        "from storm_pipeline.models.open_models import open_models\n"
        "from storm_pipeline.settings import Settings\n"
        "open_models(Settings(lm='openrouter/m'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_a_variable_decides_is_shown_and_only_secrets_are_hidden() -> None:
    """Nobody can consent to what he does not see."""
    Path(".env").write_text(
        f"STORM_LM=openai/a@{ADDRESS}\nSTORM_PICKLED_MODELS=evil/tagger\nSTORM_API_TOKEN=not-to-be-shown\n"
    )
    shown = run("trust").stdout
    assert f'STORM_LM = "openai/a@{ADDRESS}"' in shown and 'STORM_PICKLED_MODELS = "evil/tagger"' in shown
    assert "STORM_API_TOKEN = " in shown and "not-to-be-shown" not in shown


def test_a_decision_that_cannot_be_kept_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "file"))
    Path("storm.toml").write_text('lm = "openai/a"\n')
    monkeypatch.setattr("storm_pipeline.cli.consent.is_interactive", lambda: True)
    for result in (run("trust"), run("estimate", "Silk Road", answers="y\n")):
        assert result.exit_code == 2
        assert "what you decided cannot be kept: cannot write" in result.stderr

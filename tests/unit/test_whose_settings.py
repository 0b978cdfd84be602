"""Whose word counts: what a folder, topics or a run may say; which key goes where, and that no secret is written."""

import base64
import html
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import quote, quote_plus

import pytest
from commands import run_storm as run
from hypothesis import given
from hypothesis import strategies as st
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.batch import Batch, TopicRequest, read_topics
from storm_pipeline.interfaces.batch.batch_folder import BatchStore
from storm_pipeline.interfaces.batch.topics import TopicStatus
from storm_pipeline.interfaces.configuration.layers import load_settings
from storm_pipeline.method.saved_settings import pinned_engine, resumed_settings
from storm_pipeline.models.open_models import key_use
from storm_pipeline.run.folder import RunStore
from storm_pipeline.settings import CAPS, CONTENT, Settings, option_name
from storm_pipeline.sources.search.registry import Choice, open_search
from storm_pipeline.text.configuration.addresses import fill_in, is_web_address, redact
from storm_pipeline.text.configuration.variables import PROVIDERS, child_environment, use_files, variable

OTHERS_MAY_NOT = sorted(set(Settings.model_fields) - CONTENT)
OF_NO_REQUEST = set(
    """
    workers process_workers tokens_per_minute lm_timeout call_attempts parse_attempts max_failures prices search_rate
""".split()
)
OF_NO_REQUEST |= {"out", "cache"}
ADDRESS = "http://localhost:9/v1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a home of its own, no variables of the package, and every provider's key."""
    for name in [name for name in os.environ if name.startswith("STORM_") or name.endswith(("_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    for one in PROVIDERS:
        monkeypatch.setenv(one.variables[0], f"key-of-{one.name}")
    (tmp_path / "work").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def toml(values: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def by_toml(values: Mapping[str, Any]) -> Settings:
    Path("storm.toml").write_text(toml(values))
    return load_settings()


def by_project(values: Mapping[str, Any]) -> Settings:
    Path("pyproject.toml").write_text(f"[tool.storm]\n{toml(values)}")
    return load_settings()


def by_named_env_file(values: Mapping[str, Any]) -> Settings:
    Path(".env").write_text("".join(f"STORM_{name.upper()}={value}\n" for name, value in values.items()))
    use_files(env=Path(".env"))
    return load_settings()


def by_named_file(values: Mapping[str, Any]) -> Settings:
    Path("storm.toml").write_text(toml(values))  # in the folder, but named
    use_files(config=Path("storm.toml"))
    return load_settings()


def by_users_file(values: Mapping[str, Any]) -> Settings:
    (Path(os.environ["STORM_HOME"]) / "storm.toml").write_text(toml(values))
    return load_settings()


def by_environment(values: Mapping[str, Any]) -> Settings:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(f"STORM_{name.upper()}", value)
        return load_settings()


def by_topics(values: Mapping[str, Any], *, allow: bool = False) -> Settings:
    Path("topics.jsonl").write_text(json.dumps({"topic": "Silk Road", **values}))
    (request,) = read_topics("topics.jsonl", values if allow else ())
    return Settings.build(request.settings)


def by_run(values: Mapping[str, Any], **word: Settings) -> Settings:
    with RunStore.create(Path("runs"), "Silk Road", "storm") as store:
        store.begin(Settings.build(values))
        return resumed_settings(store.folder, store.saved_settings(), **{"given": Settings(), **word})  # type: ignore[arg-type]


USERS: dict[str, Callable[[Mapping[str, Any]], Settings]] = {
    "option": load_settings,
    "environment": by_environment,
    "--env-file": by_named_env_file,
    "--config": by_named_file,
    "user's storm.toml": by_users_file,
    "topics file, allowed": lambda values: by_topics(values, allow=True),
    "run, given again": lambda values: by_run(values, given=Settings.build(values)),
    "run, configured": lambda values: by_run(values, user=Settings.build(values)),
}
OTHERS: dict[str, Callable[[Mapping[str, Any]], Settings]] = {
    "storm.toml": by_toml,
    "pyproject.toml": by_project,
    "topics file": by_topics,
    "run": by_run,
}
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
            with pytest.raises(SettingsError, match=r"--lm|give it to the command"):
                OTHERS[source](values)
            continue
        settings = USERS[source](values)
        used = key_use(settings.lm_of("writer"), settings)
        assert (used.variable, used.key) == (provider.variables[0], f"key-of-{provider.name}")
        assert used.address == (ADDRESS if place else "")


def a_value(name: str) -> Any:
    """A value that a setting takes and that is not its default."""
    field = Settings.model_fields[name]
    options = get_args(field.annotation)
    if get_origin(field.annotation) is Literal:
        return next(one for one in options if one != field.default)
    types = {field.annotation, *options}
    numbers = {int: 2048, float: 2.5, date: "2020-01-31", Path: "/elsewhere"}
    known = {"lm": "openai/x", "prices": ["openai/x=0/0"], "api_base": ADDRESS, "api_key_env": "MINE", "judge": "model"}
    known |= dict.fromkeys(("article_language", "source_language", "region"), "de") | {"length": "short"}
    known |= dict.fromkeys("workers depth perspectives turns queries top_k related_topics outline_depth".split(), 2)
    known |= dict.fromkeys("answer_facts section_facts max_sections process_workers".split(), 7)
    known |= dict.fromkeys(("call_attempts", "parse_attempts"), 7) | dict.fromkeys(("temperature", "top_p"), 0.5)
    known |= {key: ["a.example"] for key in ("domains", "allow_sources", "deny_sources")}
    known |= {"exclude_urls": ["https://a.example/b"], "exclude_titles": ["A"]}
    return known.get(name, next((numbers[one] for one in numbers if one in types), "openai/x"))


@pytest.mark.parametrize("place", ["storm.toml", "pyproject.toml"])
@pytest.mark.parametrize("name", OTHERS_MAY_NOT)
def test_a_folder_decides_nothing_but_the_writing(name: str, place: str) -> None:
    with pytest.raises(SettingsError) as refused:
        OTHERS[place]({"length": "short", name: a_value(name)})
    said = str(refused.value)
    assert f"{place} sets {name} ({option_name(name)}, STORM_{name.upper()}): " in said
    assert "storm init" in said and "--config" in said
    result = run("estimate", "Silk Road", option_name(name), str(a_value(name)))
    assert (result.exit_code, result.stderr.count("\n"), said in result.stderr) == (2, 1, True)
    Path(place).unlink()
    assert by_named_file({name: a_value(name)}).model_fields_set == {name}


@pytest.mark.parametrize("name", sorted(CONTENT))
def test_a_folder_says_what_is_written(name: str) -> None:
    assert name in by_toml({name: a_value(name)}).model_fields_set


def test_what_is_content_is_declared_and_holds_no_power() -> None:
    power = "lm api_base api_key_env embedder programs cache out prices search workers search_cache judge read_pages"
    assert not CONTENT & {*power.split(), *CAPS, "wikipedia_contents", "dois", "structured"}
    assert not any(name.endswith(("_lm", "_base", "_env")) for name in CONTENT)


def test_a_named_key_goes_to_the_address_of_its_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "my-key")
    values = {"lm": f"openai/a@{ADDRESS}", "api_key_env": "MINE", "asker_lm": f"openai/b@{ADDRESS}"}
    settings = Settings.build({**values, "writer_lm": "anthropic/c", "expert_lm": "openai/d@http://localhost:8/v1"})
    assert {
        role: key_use(settings.lm_of(role), settings).key for role in ("asker", "outliner", "writer", "expert")
    } == {"asker": "my-key", "outliner": "my-key", "writer": "key-of-anthropic", "expert": "key-of-openai"}
    assert "my-key" not in repr(key_use(settings.lm, settings))


def test_an_env_file_counts_where_it_is_named_and_sets_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(".env").write_text("OPENAI_API_KEY=mine\nSTORM_API_TOKEN=secret\nHTTP_PROXY=http://x\nSTORM_HOME=x\n")
    before = dict(os.environ)
    assert run("search", "engines").exit_code == 0
    assert (variable("OPENAI_API_KEY"), variable("STORM_API_TOKEN")) == ("", "")
    assert run("search", "engines", "--env-file", ".env").exit_code == 0
    assert (variable("OPENAI_API_KEY"), variable("STORM_API_TOKEN")) == ("mine", "secret")
    assert dict(os.environ) == before
    assert run("search", "engines", "--env-file=nowhere").exit_code == 2
    assert "does not exist" in run("search", "engines", "--config", "nowhere").stderr


DOTTED = ".".join("a" * 2000)
DEEP = f"[x.{DOTTED[:1800]}]\n"  # its lines take time by its depth


@pytest.mark.parametrize(
    "text",
    [
        *(f"{DOTTED} = 1", f"[{DOTTED}]", "a = 1\n" * 100_000),
        *(
            DEEP + "".join(f"a{n}{end} = 1\n" for n in range(many))
            for end, many in (("", 9000), ("." + DOTTED[:900], 99))
        ),
    ],
)
@pytest.mark.parametrize("name", ["storm.toml", "pyproject.toml"])
def test_a_folders_file_that_would_take_minutes_to_read_is_refused(name: str, text: str, folder: Path) -> None:
    (folder / name).write_text(text)
    with pytest.raises(SettingsError, match="more than"):
        load_settings()


@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_the_named_file_stands_above_the_folders_wherever_it_is_given(at: int, folder: Path) -> None:
    (folder / "storm.toml").write_text("length = 'short'\n")
    (folder / "mine.toml").write_text("length = 'long'\nturns = 99\n")
    command = ["estimate", "Silk Road", "--queries", "2"]
    result = run(*command[:at], "--config", "mine.toml", *command[at:])
    assert result.exit_code == 2 and "(from mine.toml)" in result.stderr
    use_files(config=folder / "mine.toml")
    assert load_settings({"turns": 3}).length == "long"


FOREIGN = """
    PYTHONPATH PYTHONSTARTUP GIT_CONFIG_GLOBAL STORM_API_TOKEN MY_SECRET HF_TOKEN AWS_ACCESS_KEY_ID SEARXNG_URL
    LANGSMITH_API_KEY MY_MODEL LC_API_KEY LD_PRELOAD NODE_OPTIONS
""".split()


def test_children_get_no_keys_and_nothing_that_changes_the_code_and_pip_alone_index_and_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*FOREIGN, "PIP_INDEX_URL", "https_proxy"):
        monkeypatch.setenv(name, "http://u:p@x")
    left, of_pip = child_environment(), child_environment(network=True)
    assert left["PATH"] and of_pip["PATH"] and not {*FOREIGN} & {*left, *of_pip}
    assert {*of_pip} - {*left} >= {"PIP_INDEX_URL", "https_proxy"}


def test_what_the_user_names_as_a_key_is_hidden_whatever_its_name_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_MODEL", "a-real-value")
    monkeypatch.setenv("MY_HOST_PART", "another-value")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0123456789")
    key_use("openai/a", Settings.build({"lm": "openai/a", "api_key_env": "MY_MODEL"}))
    fill_in("http://me:${MY_HOST_PART}@host.example")
    assert redact("a-real-value, another-value, AKIA0123456789") == "***, ***, ***"


def test_a_key_is_hidden_in_whatever_form_a_service_or_library_quotes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "abc/def+ghi==ü\"q'&"
    monkeypatch.setenv("MY_SECRET", key)
    for form in (key, quote(key), quote_plus(key), json.dumps(key)[1:-1], repr(key)[1:-1], html.escape(key)):
        assert redact(f"http://host.example/{form}/x?q={form}") == "http://host.example/***/x?q=***"


@pytest.mark.parametrize("before", ["", "m", "me", "me:", "somebody:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_hidden_in_base64_as_in_a_login(
    monkeypatch: pytest.MonkeyPatch, encode: Callable[[bytes], bytes], before: str
) -> None:
    key = "hunter2?~xyz\udcff"  # not in UTF-8
    monkeypatch.setenv("MY_PASSWORD", key)
    login = encode(before.encode() + os.fsencode(key) + b":end").decode()
    user, end = redact(f"Authorization: Basic {login}").removeprefix("Authorization: Basic ").split("***")
    assert login.startswith(user)
    assert (len(user), len(end)) <= (len(before) * 8 // 6 + 2, 9)


@pytest.mark.parametrize("name", sorted(set(OTHERS_MAY_NOT) - set(CAPS)))
def test_a_run_decides_nothing_but_the_writing(name: str) -> None:
    """Either a line says what to give again, or the setting is the user's of now."""
    values = {"length": "short", name: a_value(name)}
    try:
        settings = by_run(values)
    except SettingsError as error:
        assert f"was made with {option_name(name)} " in str(error)
        word = Settings.build({name: a_value(name)})
        for given in (by_run(values, user=word), by_run(values, given=word)):
            assert (getattr(given, name), given.length) == (getattr(word, name), "short")
    else:
        assert name in OF_NO_REQUEST
        assert getattr(settings, name) == getattr(Settings(), name)
        assert settings.length == "short"


@pytest.mark.parametrize("name", ["programs", "embedder", "judge", "search", "out"])
def test_a_run_names_no_object_but_a_model(name: str) -> None:
    assert by_run({"length": "short", "lm": "object:mine"}).length == "short"
    try:
        settings = by_run({"length": "short", name: "object:/set"})
    except SettingsError as error:
        assert f"was made with {option_name(name)} object:/set" in str(error)
    else:
        assert getattr(settings, name) == getattr(Settings(), name)


def test_a_run_keeps_what_it_says_of_the_writing_and_lower_caps() -> None:
    values = {"length": "short", "style": "plain", "max_cost": 0.5, "lm": "openai/a"}
    own = Settings.build({"lm": "openai/a", "length": "long", "workers": 3})
    kept = by_run(values, user=own)
    assert (kept.length, kept.style, kept.max_cost, kept.workers) == ("short", "plain", 0.5, 3)
    assert by_run(values, user=Settings.build({"lm": "openai/a", "max_cost": 0.1})).max_cost == 0.1
    assert by_run(values, user=own, given=Settings(length="900")).length == "900"


def test_a_configuration_that_names_another_model_does_not_buy_it_again_unasked() -> None:
    values = {"lm": "openai/a", "writer_lm": "openai/b", "api_base": ADDRESS}
    with pytest.raises(
        SettingsError, match=f"made with --lm openai/a --writer-lm openai/b --api-base {ADDRESS}, which"
    ):
        by_run(values, user=Settings(lm="anthropic/c"))
    with pytest.raises(SettingsError, match="made with --writer-lm openai/a, which"):
        by_run({"lm": "openai/a"}, user=Settings(lm="openai/a", writer_lm="openai/w"))
    with pytest.raises(SettingsError, match="made with --lm embedded, which"):
        by_run({}, user=Settings(lm="openai/a"))
    given = by_run(values, user=Settings(lm="anthropic/c"), given=Settings(lm="openai/new", writer_lm="openai/b"))
    assert (given.lm, given.api_base) == ("openai/new", None)


@pytest.mark.parametrize(
    ("search", "engine", "chosen", "pinned"),
    [
        ("auto", "wikipedia", "wiki-leads", "wikipedia"),
        ("auto", "tavily", "tavily", "tavily"),
        ("auto", "searxng:http://evil.test", "wikipedia", "auto"),
        ("auto", None, "wikipedia", "auto"),
        ("arxiv", "wikipedia", "you", "arxiv"),
        ("auto", "tavily", "you", "--search tavily"),  # paid for, which a run does not choose
    ],
)
def test_a_run_goes_on_with_the_engine_that_was_chosen(
    search: str, engine: str | None, chosen: str, pinned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storm_pipeline.method.saved_settings.choose", lambda: Choice(chosen, "since it is"))
    with pytest.raises(SettingsError, match=pinned) if " " in pinned else nullcontext():
        assert pinned_engine(search, engine) == pinned


def test_topics_of_a_batch_have_settings_of_their_own_where_they_are_allowed() -> None:
    rows = [TopicStatus(1, TopicRequest("Silk Road", {"lm": "openai/b", "length": "short"}))]
    given = {"lm": "openai/a", "turns": 2}
    made = BatchStore.create(Path("runs"), "batch", rows, settings=given, repeated=0)
    made.close()
    with pytest.raises(SettingsError, match="made with --lm openai/a, which"):
        Batch.open(made.folder)
    with pytest.raises(SettingsError, match="give --lm for all of them"):
        Batch.open(made.folder, user=Settings(lm="openai/a"))
    Batch.open(made.folder, Settings(lm="openai/a")).close()  # given for all topics, it comes before their own
    with Batch.open(made.folder, user=Settings(lm="openai/a", workers=2, length="long"), allow=["lm"]) as batch:
        (row,) = made.rows
        settings = batch._settings(row)
    assert (settings.lm, settings.turns, settings.workers, settings.length) == ("openai/b", 2, 2, "short")


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


SECRET = "hunter2xyz"
HOLDING = [
    *(f"http://me:{SECRET}@h/v1", f"http://{SECRET}@h/v1", f"http://me:{SECRET}/a?b#c@h/v1"),
    *(f"openai/m@https://me:{SECRET}@h:8000/v1", f"searxng:http://me:a@{SECRET}@h", f"http://h/v1?key={SECRET}"),
    *(f"http://h/v1?a=b&api_key={SECRET}&c=d", f"http://h/v1?X-Access-Token={SECRET}"),
    f"HTTPSConnectionPool(host='h'): Max retries exceeded with url: /v1?q=silk&apikey={SECRET} (Caused by …)",
    *(f"'http://h/?client_secret={SECRET}' answered 500", f"?signature={SECRET}"),
    f"fused:wikipedia+[searxng:http://me:{SECRET}@h]",
]


@pytest.mark.parametrize("text", HOLDING)
def test_secrets_are_hidden(text: str) -> None:
    hidden = redact(text)
    assert SECRET not in hidden
    assert "***" in hidden
    assert redact(hidden) == hidden
    assert redact(f"{text} and {text}") == f"{hidden} and {hidden}"


@given(
    before=st.text(alphabet="abc :/?#@&=.{}$", max_size=20),
    secret=st.text(alphabet=st.characters(categories=["L", "N"]), min_size=6, max_size=12),
    after=st.text(alphabet="abc :/?#&=.{}$", max_size=20),
)
def test_a_password_is_hidden_wherever_the_address_stands(before: str, secret: str, after: str) -> None:
    hidden = redact(f"{before} https://u:{secret}@h.org/{after}")
    assert f"{secret}@" not in hidden
    assert redact(hidden) == hidden


@pytest.mark.parametrize("setting", ["api_base", "lm", "writer_lm", "search"])
def test_a_setting_that_would_be_saved_takes_no_secret(setting: str) -> None:
    prefix = {"api_base": "", "search": "searxng:"}.get(setting, "openai/m@")
    with pytest.raises(SettingsError, match=r"\$\{NAME\}") as refused:
        Settings.build({setting: f"{prefix}http://me:{SECRET}@h/v1"})
    assert SECRET not in str(refused.value)
    Settings.build({setting: f"{prefix}http://h/${{PASSWORD}}/v1?key=${{KEY}}"})


def test_a_login_goes_to_a_search_engine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of the language models would look up the host ``me:password@h``."""
    with pytest.raises(SettingsError, match="--api-key-env"):
        Settings.build({"api_base": "http://me:${PASSWORD}@h/v1"})
    monkeypatch.setenv("PASSWORD", SECRET)
    seen: list[str] = []

    def reply(request: Request) -> Reply:
        seen.append(request.headers["authorization"])
        return Reply(body={"results": []})

    with ScriptedServer(reply) as server:
        Settings.build({"search": "searxng:http://me:${PASSWORD}@h"})
        engine = open_search(f"searxng:{server.url.replace('://', '://me:${PASSWORD}@')}").search
        assert not engine.search("silk", 1).snippets
    assert base64.b64decode(seen[0].removeprefix("Basic ")).decode() == f"me:{SECRET}"


def test_a_named_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", SECRET)
    monkeypatch.delenv("KEY", raising=False)
    assert fill_in("http://me:${PASSWORD}@h") == f"http://me:{SECRET}@h"
    assert fill_in("http://h") == "http://h"
    with pytest.raises(SettingsError, match="variable KEY is not set"):
        fill_in("http://me:${PASSWORD}@h?key=${KEY}")


def test_an_engine_says_nothing_of_a_password_in_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", f"ftp://me:{SECRET}@h")
    with pytest.raises(SettingsError) as refused:
        open_search("searxng")
    assert SECRET not in str(refused.value)


@given(st.text(max_size=60) | st.from_regex(r"https?://[\[\]a-z0-9:@/. ]{0,20}", fullmatch=True))
def test_any_text_is_an_address_or_not(text: str) -> None:
    assert is_web_address(text) in {True, False}
    assert redact(redact(text)) == redact(text)

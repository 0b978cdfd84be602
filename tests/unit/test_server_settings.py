"""What remote callers may choose, what leaves a server, and who may call it."""

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.server import redaction
from storm_pipeline.interfaces.server.callers import require_valid_token
from storm_pipeline.interfaces.server.reach import is_loopback
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.interfaces.server.remote_settings import CAPS, FREE, RemoteSettings
from storm_pipeline.interfaces.server.setup import Setup, SetupLookup
from storm_pipeline.settings import Settings

NEVER = {"out", "cache", "api_base", "api_key_env", "prices"}
BY_VALUE = set(
    "lm asker_lm expert_lm reader_lm outliner_lm writer_lm reviewer_lm judge_lm judge search embedder programs".split()
)
VALUES: dict[str, Any] = {
    "perspectives": 2,
    "turns": 3,
    "length": "short",
    "style": "for children",
    "lm": "openai/a",
    "search": "wikipedia",
    "api_base": "http://localhost:1/v1",
    "out": "elsewhere",
    "workers": 3,
    "max_cost": 0.5,
    "max_tokens": 1000,
    "source_policy": "any",
    "uncited": "keep",
}


def test_every_setting_that_names_files_services_or_keys_is_not_free() -> None:
    assert not FREE & (NEVER | BY_VALUE)
    paths = {
        name for name, field in Settings.model_fields.items() if Path in (field.annotation, *get_args(field.annotation))
    }
    assert paths >= {"out", "programs"}
    assert paths <= NEVER | BY_VALUE
    assert set(CAPS) | FREE <= set(Settings.model_fields)


@given(
    st.dictionaries(st.sampled_from(sorted(VALUES)), st.none(), max_size=6),
    st.dictionaries(st.sampled_from(sorted(VALUES)), st.none(), max_size=6),
)
def test_a_caller_changes_what_is_free_and_nothing_else(owners: dict[str, None], callers: dict[str, None]) -> None:
    owner = Settings.build({name: VALUES[name] for name in owners})
    remote = RemoteSettings.build(owner)
    given = {name: VALUES[name] for name in callers}
    allowed = (FREE - owner.model_fields_set) | set(CAPS)
    if set(given) <= allowed:
        chosen = remote.for_new_run(given)
        assert chosen == Settings.build({name: VALUES[name] for name in owners} | given)
        assert remote.for_resuming(chosen.model_dump(mode="json"), {}) == chosen
    else:
        with pytest.raises(SettingsError):
            remote.for_new_run(given)
        with pytest.raises(SettingsError):
            remote.for_resuming(owner.model_dump(mode="json"), given)


@pytest.mark.parametrize("page", ["https://a.org/b\x1cc", "https://a.org/\x85", "\x1fhttps://a.org"])
def test_an_address_with_blanks_of_any_kind_is_refused_as_described(page: str) -> None:
    with pytest.raises(SettingsError, match="write the address of a page"):
        Settings.build({"exclude_urls": [page]})


@given(cap=st.floats(0.01, 100), asked=st.floats(0.01, 100), again=st.floats(0.01, 100))
def test_a_cap_is_never_exceeded(cap: float, asked: float, again: float) -> None:
    remote = RemoteSettings.build(Settings(max_cost=cap))
    for saved, wanted in (({}, asked), ({"max_cost": min(asked, cap)}, again)):
        if wanted > cap:
            with pytest.raises(SettingsError, match="at most"):
                remote.for_resuming(saved, {"max_cost": wanted})
        else:
            assert remote.for_resuming(saved, {"max_cost": wanted}).max_cost == wanted
    assert remote.for_new_run({"max_cost": None}).max_cost == cap
    assert remote.for_resuming({"max_cost": min(asked, cap)}, {}).max_cost == min(asked, cap)
    assert remote.for_resuming({"max_cost": None}, {}).max_cost == cap


def test_single_values_are_allowed() -> None:
    remote = RemoteSettings.build(
        Settings(lm="openai/a"), ["lm=openai/a", "lm=openai/b=c", "workers", "read-pages=never"]
    )
    assert remote.for_new_run({}).lm == "openai/a"
    assert remote.for_new_run({"lm": "openai/b=c", "workers": 99, "read_pages": "never"}).workers == 99
    for refused in ({"lm": "openai/c"}, {"lm": "gguf:/etc/passwd"}, {"read_pages": "always"}, {"lm": ["openai/a"]}):
        with pytest.raises(SettingsError, match="may choose"):
            remote.for_new_run(refused)
    saved = remote.for_new_run({"lm": "openai/b=c"}).model_dump(mode="json")
    assert remote.for_resuming(saved, {}).lm == "openai/b=c"


def test_another_model_does_not_get_the_address_and_the_key_of_the_owners() -> None:
    owner = Settings(lm="openai/a", api_base="http://lan.example:8000/v1", api_key_env="LAN_KEY")
    remote = RemoteSettings.build(owner, ["lm=anthropic/b"])
    for chosen in (
        remote.for_new_run({"lm": "anthropic/b"}),
        remote.for_resuming({"lm": "anthropic/b"}, {}),
        remote.for_resuming({"lm": "openai/a"}, {"lm": "anthropic/b"}),
    ):
        assert (chosen.lm, chosen.api_base, chosen.api_key_env) == ("anthropic/b", None, None)
    for own in (remote.for_new_run({}), remote.for_resuming({"lm": "x/y"}, {})):
        assert (own.lm, own.api_base, own.api_key_env) == (owner.lm, owner.api_base, owner.api_key_env)


@pytest.mark.parametrize("rule", [*sorted(BY_VALUE), *sorted(NEVER), "out=/tmp", "api_base=http://x", "nothing", ""])
def test_rules_that_would_open_the_server(rule: str) -> None:
    with pytest.raises(SettingsError):
        RemoteSettings.build(Settings(), [rule])


@given(st.text(), st.text(), st.text("abcdef0123456789", min_size=6, max_size=20))
def test_no_secret_and_no_folder_is_left(before: str, after: str, secret: str) -> None:
    folder = Path("/srv/storm/runs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MY_API_KEY", secret)
        patched.setenv("SHORT_KEY", "a")
        text = Redactor([folder]).text(
            f"{before}{secret}{after} at https://user:{secret}@host/v1 in {folder}/silk-road"
        )
    assert secret not in text
    assert str(folder) not in text
    assert "user:" not in text or "user:" in before + after
    assert text.endswith("@host/v1 in silk-road")
    nested = {"details": [f"{folder}/a.pdf", {f"{folder}/why": [f"{folder}"]}], "count": 2}
    assert Redactor([folder]).values(nested) == {"details": ["a.pdf", {"why": ["."]}], "count": 2}


def test_secrets_are_looked_up_once_for_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-123456")
    shown = Redactor().numbered((number, {"why": "bad key sk-123456"}) for number in (1, 2))
    assert next(shown) == (1, {"why": "bad key ***"})
    monkeypatch.setattr(redaction, "redaction", lambda: pytest.fail("the variables were read again"))
    assert list(shown) == [(2, {"why": "bad key ***"})]


def test_this_machine_alone_needs_no_token() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert is_loopback(host) and require_valid_token(host, "") == ""
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"):
        with pytest.raises(SettingsError, match="STORM_API_TOKEN"):
            require_valid_token(host, "")
        assert require_valid_token(host, "x" * 16)
    with pytest.raises(SettingsError, match="can be guessed"):
        require_valid_token("127.0.0.1", "secret")


@pytest.mark.parametrize(
    ("lm", "search", "writes", "engine"),
    [
        ("embedded", "wikipedia", None, "wikipedia"),
        ("embedded:1.5b", "both:corpus:/home/me/secret+wikipedia", "embedded:1.5b", "both"),
        ("gguf:/home/me/secret.gguf", "corpus:/home/me/secret", "gguf", "corpus"),
        ("openai/mine@http://10.0.0.1/v1", "wikipedia", "openai/mine", "wikipedia"),
        ("openai/gpt-4o", "you", "openai/gpt-4o", "you"),
    ],
)
def test_what_a_server_says_of_its_set_up(
    lm: str, search: str, writes: str | None, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "YDC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    setup = Setup.of(Settings(lm=lm, search=search, out=tmp_path / "runs", cache=tmp_path / "cache"))
    assert (setup.writes, setup.engine) == (writes, engine)
    assert ("OPENAI_API_KEY" in setup.variables) == (writes is None)
    said = repr(setup)
    assert not any(secret in said for secret in ("secret", "10.0.0.1", str(tmp_path)))
    assert bool(setup.missing) == (lm in {"openai/gpt-4o", "gguf:/home/me/secret.gguf"} or "corpus" in search)
    assert any("OPENAI_API_KEY" in problem for problem in setup.missing) == (lm == "openai/gpt-4o")
    assert setup.download > 10**6
    assert setup.seconds > 0


def test_the_set_up_is_kept_for_a_while(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    settings = Settings(search=f"corpus:{tmp_path / 'notes'}", cache=tmp_path / "cache")
    kept, anew = SetupLookup(settings), SetupLookup(settings, seconds=0)
    assert kept.get() == anew.get()
    (tmp_path / "notes" / "a.txt").write_text("Silk was traded.")
    assert kept.get() != anew.get()

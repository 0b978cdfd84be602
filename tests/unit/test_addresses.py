"""Passwords and keys in addresses: none is written, and what has none is left as it is."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Reply, Request, ScriptedServer

from storm_pipeline import Settings
from storm_pipeline.errors import SettingsError
from storm_pipeline.sources.search.registry import open_search
from storm_pipeline.text.configuration.addresses import fill_in, is_web_address, redact

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

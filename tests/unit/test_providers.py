"""Providers, their keys, and names of models without a provider."""

from pathlib import Path

import pytest

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.models.keys import key_use
from storm_pipeline.models.prices import listed_window, price_of
from storm_pipeline.settings import Settings
from storm_pipeline.text.configuration.providers import PROVIDERS, Provider, provider_of, provider_with_key, qualified


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS:
        for name in provider.variables:
            monkeypatch.delenv(name, raising=False)
    for name in ("YDC_API_KEY", "TAVILY_API_KEY", "SEARXNG_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("gpt-4o", "openai/gpt-4o"),
        ("o3", "openai/o3"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("gpt-4o@http://localhost:1/v1", "openai/gpt-4o@http://localhost:1/v1"),
        *(("openai/gpt-4o", "openai/gpt-4o"), ("embedded", "embedded"), ("gguf:gpt-2.gguf", "gguf:gpt-2.gguf")),
        *(("o3x", "o3x"), ("my-model", "my-model")),
    ],
)
def test_a_name_says_its_provider(name: str, full: str) -> None:
    assert qualified(name) == full == Settings.build({"lm": name}).lm
    assert Settings.build({"writer_lm": name}).writer_lm == full


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_proposed_models_are_known(provider: Provider) -> None:
    assert provider_of(provider.model) is provider
    assert price_of(provider.model)
    assert (listed_window(provider.model) or 0) >= 100_000


def test_the_first_provider_whose_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert provider_with_key() is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    assert provider_with_key() is provider_of("anthropic/x")
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert provider_with_key() is provider_of("anthropic/x")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"lm": "openai/gpt-4o"}, "no key set for openai/gpt-4o: set OPENAI_API_KEY"),
        ({"lm": "gpt-4o"}, "no key set for openai/gpt-4o"),
        ({"lm": "embedded", "writer_lm": "anthropic/claude-sonnet-4-5"}, "ANTHROPIC_API_KEY"),
        ({"lm": "openai/gpt-4o", "api_key_env": "MY_OWN"}, "MY_OWN, which --api-key-env names"),
        ({"lm": "openai/x", "api_base": "http://localhost:1/v1", "writer_lm": "gpt-4o"}, "OPENAI_API_KEY"),
    ],
)
def test_a_missing_key_is_said_before_a_folder_is_made(
    tmp_path: Path, values: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_OWN", raising=False)
    storm = Storm(Settings.build({**values, "out": tmp_path / "runs", "cache": tmp_path / "c"}))
    for work in (storm.write, storm.outline):
        with pytest.raises(SettingsError, match=says):
            work("Silk Road")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spec", ["you", "fused:wikipedia+tavily", "fused:[fused:arxiv+you]+arxiv", "searxng"])
def test_a_missing_key_of_an_engine_is_said_before_a_folder_is_made(tmp_path: Path, spec: str) -> None:
    storm = Storm(lm="embedded", search=spec, out=tmp_path / "runs", cache=tmp_path / "c")
    with pytest.raises(SettingsError, match=r"YDC_API_KEY|TAVILY_API_KEY|SEARXNG_URL"):
        storm.write("Silk Road")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["sk-…", "sk-1\nsk-2", "clé"])
@pytest.mark.parametrize("given", [{}, {"api_key_env": "OPENAI_API_KEY"}])
def test_what_can_be_no_key_is_not_repeated(monkeypatch: pytest.MonkeyPatch, key: str, given: dict[str, str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(SettingsError, match="OPENAI_API_KEY holds characters") as error:
        key_use("openai/gpt-4o", Settings(**given))
    assert key not in str(error.value)


def test_keys_that_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    local = Settings.build({"lm": "openai/qwen", "api_base": "http://localhost:1/v1"})
    assert key_use("openai/qwen", local).key == "none"
    assert key_use("bedrock/x", Settings()).key is None
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert key_use("openai/qwen", local).key == "k"
    monkeypatch.setenv("MY_OWN", "mine")
    assert key_use("openai/gpt-4o", Settings(api_key_env="MY_OWN")).key == "mine"

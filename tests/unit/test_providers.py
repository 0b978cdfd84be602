"""Providers, their keys, names of models without a provider, and what tokens cost."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import run_storm
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.evidence.retrieval.embedder import SentenceTransformerEmbedder, is_here, open_embedder
from storm_pipeline.evidence.retrieval.model_files import local_folder, options_without_code
from storm_pipeline.models import prices
from storm_pipeline.models.open_models import key_use
from storm_pipeline.models.prices import FREE, listed_window, parse_price, parse_prices, price_of
from storm_pipeline.settings import Settings
from storm_pipeline.text.configuration.variables import PROVIDERS, Provider, provider_of, qualify
from storm_pipeline.types import Price

pytestmark = pytest.mark.usefixtures("no_keys")


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
    assert qualify(name) == full == Settings.build({"lm": name}).lm
    assert Settings.build({"writer_lm": name}).writer_lm == full


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_proposed_models_are_known(provider: Provider) -> None:
    assert provider_of(provider.model) is provider
    assert price_of(provider.model)
    assert (listed_window(provider.model) or 0) >= 100_000


LOCAL = {"api_base": "http://localhost:1/v1"}
MISSING: list[tuple[dict[str, str], str]] = [
    *(({"lm": model}, "no key set for openai/gpt-4o: set OPENAI_API_KEY") for model in ("openai/gpt-4o", "gpt-4o")),
    ({"lm": "embedded", "writer_lm": "anthropic/claude-sonnet-4-5"}, "ANTHROPIC_API_KEY"),
    ({"lm": "openai/gpt-4o", "api_key_env": "MY_OWN"}, "MY_OWN, which --api-key-env names"),
    ({"lm": "openai/x", **LOCAL, "writer_lm": "gpt-4o"}, "OPENAI_API_KEY"),
    *(({"lm": "embedded", "search": spec}, "YDC_API_KEY") for spec in ("you", "fused:[fused:arxiv+you]+arxiv")),
    ({"lm": "embedded", "search": "fused:wikipedia+tavily"}, "TAVILY_API_KEY"),
    ({"lm": "embedded", "search": "searxng"}, "SEARXNG_URL"),
]


@pytest.mark.parametrize(("values", "says"), MISSING)
def test_a_missing_key_is_said_before_a_folder_is_made(
    tmp_path: Path, values: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_OWN", raising=False)
    storm = Storm(Settings.build({**values, "out": tmp_path / "runs", "cache": tmp_path / "c"}))
    for work in (storm.write, storm.outline):
        with pytest.raises(SettingsError, match=says):
            work("Silk Road")
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


dollars = st.floats(0, 100_000)


@pytest.mark.parametrize(
    "model",
    """
        anthropic/claude-sonnet-4-5 bedrock/anthropic.claude-3-5-haiku-20241022-v1:0 deepseek/deepseek-chat
        gemini/gemini-2.5-flash vertex_ai/claude-sonnet-4-5@20250929 vertex_ai/gemini-2.5-pro
    """.split(),
)
def test_providers_of_all_kinds_are_found(model: str) -> None:
    price = price_of(model)
    assert price is not None
    assert 0 < price.cached < price.fresh < price.output


UNKNOWN = [
    *("openai/no-such-model", "no-such-provider/gpt-4o", "openai/gpt-4o@http://10.1.2.3/v1", ""),
    "openai/deepseek-chat",  # another provider's
    "openai/text-embedding-3-small",  # no language model
    "openai/gpt-4o@http://localhost:4000/v1",  # may be anything
    "github_copilot/gpt-4o",  # listed with 0, as a subscription
    *("gemini/gemma-3-27b-it", "ollama/gpt-oss:120b-cloud", "ollama_chat/qwen3@https://ollama.com"),
]
OWN = """
    embedded embedded:0.5b gguf:/models/a@b.gguf ollama_chat/qwen2.5:7b ollama/llama3
    ollama_chat/qwen3@http://gpu-box:11434
""".split()


@pytest.mark.parametrize(("model", "price"), [*((one, None) for one in UNKNOWN), *((one, FREE) for one in OWN)])
def test_only_what_runs_on_ones_own_machine_is_free(model: str, price: Price | None) -> None:
    assert price_of(model) == price


@pytest.mark.parametrize("key", ["openai/gpt-4o@http://localhost:4000/v1", "openai/gpt-4o", "gpt-4o"])
def test_a_price_of_ones_own_comes_first(key: str) -> None:
    own = parse_prices([f"{key}=3/4"])
    assert price_of("openai/gpt-4o@http://localhost:4000/v1", own) == Price(3, 3, 4)
    assert price_of("openai/gpt-4o-mini", own) == price_of("openai/gpt-4o-mini")


def test_without_litellm_hosted_prices_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "find_spec", lambda name: None)
    prices._table.cache_clear()
    try:
        assert price_of("openai/gpt-4o") is None
        assert price_of("embedded") == FREE
    finally:
        prices._table.cache_clear()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(("", "its format is wrong"), ("openai/gpt-4o=2.5", "its format is wrong")),
        *(("=2.5/10", "its format is wrong"), ("a/b=1/", "'' is not a number")),
        *(("a/b=1/two", "'two' is not a number"), ("a/b=-1/2", "-1 is not from 0")),
        ("a/b=1/1e9", "1e9 is not from 0 to 100,000"),
        ("a/b=2.5/10/1.25", "cached input would cost more than fresh input"),
    ],
)
def test_nonsense_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(why)):
        parse_price(text)


tokens = st.integers(0, 10**9)


@given(dollars, st.floats(0, 1), dollars, tokens, tokens, tokens)
def test_cost_is_never_negative_and_a_cache_never_makes_it_dearer(
    fresh: float, discount: float, output: float, tokens_in: int, cached: int, out: int
) -> None:
    price = Price(fresh, fresh * discount, output)
    assert 0 <= price.cost(tokens_in, cached, out) <= price.cost(tokens_in, 0, out) * (1 + 1e-12)


LOADERS: list[Callable[[str], object]] = [
    *(SentenceTransformerEmbedder, CrossEncoderJudge, options_without_code),
    *(lambda name: open_embedder(name, Path("cache")), lambda name: is_here(name, Path("cache"))),
]


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("sentence-transformers/gtr", "sentence-transformers/gtr"),
        ("gtr", "sentence-transformers/gtr"),
        ("gtr", "gtr"),
        ("models", "models"),
    ],
)
def test_a_folder_in_the_current_one_is_not_taken_for_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[str], object], name: str, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    with pytest.raises(SettingsError, match=f"write ./{folder} if you mean that"):
        load(name)


def test_a_folder_is_written_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "gtr").mkdir()
    for written in ("./gtr", f"../{tmp_path.name}/gtr", "~/gtr", str(tmp_path / "gtr"), Path("gtr")):
        found = local_folder(written)
        assert found and found.is_absolute() and found.samefile(tmp_path / "gtr")
        assert is_here(str(found), tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        options_without_code("./absent")


def test_a_run_does_not_begin_with_a_strangers_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "intfloat" / "e5").mkdir(parents=True)
    command = ["write", "Silk Road", "--search", "wiki-leads", "--embedder", "intfloat/e5"]
    result = run_storm(*command)
    assert result.exit_code == 2 and "write ./intfloat/e5" in " ".join(result.output.split())

"""What a model refuses of a request is left out, told once, and buys nothing twice; what the user chose is refused."""

import re
from pathlib import Path
from typing import Any

import dspy
import pytest
from commands import run_storm
from documentation import ROOT
from llm import FakeModel
from refusing import (
    Refuse,
    anthropic_wire,
    claude_45,
    gemma_in_lm_studio,
    gemma_on_vllm,
    mistral,
    o1_mini,
    openai_error,
    openai_wire,
    openrouter,
    reasoning,
    strict,
)
from servers import Reply, Request, Script, ScriptedServer
from test_models import models, related
from test_resume import answers, stopped, storm, text

from storm_pipeline.errors import ModelAuthError, ModelError, SettingsError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs
from storm_pipeline.run.events import CallFinished, Degraded, Event, Retried
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article

pytestmark = pytest.mark.usefixtures("no_clients_left")
FOUND = ["Caravan", "Spice trade"]
GPT, CLAUDE = "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"

README_LINES: dict[str, tuple[Script, str]] = {
    "--lm openai/gpt-4o": (openai_wire(), GPT),
    "--lm anthropic/claude-sonnet-4-5": (anthropic_wire(claude_45), CLAUDE),
    "--lm ollama_chat/qwen2.5:7b": (openai_wire(), "OLLAMA_API_BASE"),
    "--lm openai/NAME --api-base http://localhost:8000/v1": (openai_wire(gemma_on_vllm), ""),
    "--structured always": (openai_wire(), GPT),
    "--writer-lm openai/gpt-4o": (openai_wire(), GPT),
    "--asker-lm openai/qwen@http://localhost:8001/v1": (openai_wire(gemma_in_lm_studio), ""),
}
"""What the tables of models print, with the server that answers and the variable of its address."""


def lines_of(page: str) -> set[str]:
    """Return the options in a page's table of models, but those of models that run in this process."""
    table = (ROOT / page).read_text("utf-8").partition("# Language models")[2].partition("\n## ")[0]
    lines = re.findall(r"`(--(?:lm|structured|[a-z]+-lm) [^`]+)`", table)
    return {line for line in lines if not re.search("embedded|gguf", line)}


def test_every_line_of_the_tables_of_models_is_tried() -> None:
    assert lines_of("README.md") < lines_of("docs/models.md") == set(README_LINES)


@pytest.mark.parametrize("line", README_LINES)
def test_a_line_of_readme_works(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model answers, by `storm doctor` and when it is asked as a run asks."""
    script, variable = README_LINES[line]
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "k")
    with ScriptedServer(script) as server:
        if variable:
            monkeypatch.setenv(variable, server.url + ("/v1" if variable == GPT else ""))
        options = re.sub(r"http://localhost:\d+", server.url, line).replace("NAME", "qwen").split()
        given = {options[i][2:].replace("-", "_"): options[i + 1] for i in range(0, len(options), 2)}
        role = next((name.removesuffix("_lm") for name in given if name.endswith("_lm")), "asker")
        given.setdefault("lm", "openai/gpt-4o" if variable == GPT else given.get(f"{role}_lm", ""))
        asking = models(**given)  # type: ignore[arg-type]
        found = asking.ask(role, Programs().related, topic="Silk Road")  # type: ignore[arg-type]
        assert found.related_topics == FOUND
        lm = [] if "--lm" in options else ["--lm", given["lm"]]
        result = run_storm("doctor", "--search", "wiki-leads", *options, *lm)
        assert "replies" in result.stdout and "missing" not in result.stdout, result.output


ASKED: dict[str, tuple[str, Script, list[str], int]] = {
    "Anthropic": ("anthropic/claude-sonnet-4-5", anthropic_wire(claude_45), ["top_p"], 1),
    "o3": ("openai/o3-mini", openai_wire(reasoning), ["top_p"], 1),
    "gpt-5": ("openai/gpt-5-mini", openai_wire(reasoning), ["top_p"], 1),
    "an alias of gpt-5": ("openai/our-best", openai_wire(reasoning), ["top_p"], 1),
    "o1-mini": ("openai/o1-mini", openai_wire(o1_mini), ["system role", "top_p"], 2),
    "Gemma on vLLM": ("openai/gemma", openai_wire(gemma_on_vllm), ["system role"], 1),
    "Gemma in LM Studio": ("openai/gemma", openai_wire(gemma_in_lm_studio), ["system role"], 1),
    "extra fields": ("openai/tiny", openai_wire(strict("top_p", "temperature")), ["temperature", "top_p"], 2),
    "Mistral": ("openai/m", openai_wire(mistral("top_p", "max_completion_tokens")), ["max_tokens", "top_p"], 2),
    "Mistral's own": ("mistral/m", openai_wire(mistral("top_p")), ["top_p"], 1),
    "OpenRouter": ("openai/claude", openai_wire(openrouter(claude_45)), ["top_p"], 1),
    "a schema": (
        "openai/old",
        openai_wire(lambda body: openai_error("json_schema is unknown") if "response_format" in body else None),
        ["response_format"],
        1,
    ),
}
"""Model, server, what it refuses, and how many requests that takes."""


@pytest.mark.parametrize("case", ASKED)
def test_what_a_model_refuses_is_left_out(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm, script, without, refused = ASKED[case]
    for name in ("ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, "k")
    events: list[Event] = []
    with ScriptedServer(script) as server:
        more: dict[str, Any] = {"reply_tokens": 4000} if "max_tokens" in without or "o3" in lm or "gpt-5" in lm else {}
        asking = models(f"{lm}@{server.url}/v1", events, call_attempts=1, max_tokens=20_000, **more)
        asking._table = {  # auto: whether a schema is sent is known of few names
            role: type(model)(**(vars(model) | {"adapter": type(model.adapter)(structured=case == "a schema")}))
            for role, model in asking._table.items()
        }
        for _ in range(3):
            assert related(asking) == FOUND
        assert len(server.requests) == refused + 3  # the later calls leave it out from the start
    assert len([one for one in events if isinstance(one, CallFinished)]) == 3
    assert not any(isinstance(one, Retried) for one in events)
    told = [one.detail for one in events if isinstance(one, Degraded)]
    assert sorted(one.split(" refuses ")[1].partition(":")[0] for one in told) == without


@pytest.mark.parametrize("lm", ["azure/o3-mini", "openai/o3-mini"])
def test_a_limit_of_replies_reaches_a_reasoning_model(lm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_API_VERSION", "2025-01-01")
    script = openai_wire(reasoning)
    with ScriptedServer(lambda one: script(Request(**(vars(one) | {"path": "/v1/chat/completions"})))) as server:
        assert related(models(f"{lm}@{server.url}/v1", reply_tokens=4000, call_attempts=1)) == FOUND
        assert server.requests[-1].json["max_completion_tokens"] == 4000


def test_the_system_role_goes_before_the_users_first_message() -> None:
    with ScriptedServer(openai_wire(gemma_on_vllm)) as server:
        related(models(f"openai/gemma@{server.url}/v1"))
        refused, sent = (one.json["messages"] for one in server.requests)
    assert [one["role"] for one in sent] == [one["role"] for one in refused[1:]]
    assert sent[0]["content"] == f"{refused[0]['content']}\n\n{refused[1]['content']}"
    assert sent[1:] == refused[2:]


CHOSEN: list[tuple[dict[str, Any], Refuse, str]] = [
    ({"top_p": 0.5, "temperature": 0.3}, claude_45, r"refuses --top-p 0\.5: `temperature` and .*with --top-p none$"),
    ({"temperature": 0.7}, reasoning, r"refuses --temperature 0\.7: Unsupported value.*with --temperature none$"),
    ({"seed": 7}, strict("seed"), r"refuses --seed 7: Extra inputs.*--seed none$"),
    (
        {"reply_tokens": 99_999},
        lambda body: openai_error("max_tokens is too large: 99999") if len(body) > 1 else None,
        r"refuses --reply-tokens 99999: max_tokens is too large.*--reply-tokens none$",
    ),
    (
        {"structured": "always"},
        lambda _: openai_error("response_format is not supported"),
        r"refuses --structured always: .*--structured never$",
    ),
]


@pytest.mark.parametrize(("given", "refuse", "says"), CHOSEN)
def test_what_the_user_chose_is_refused_with_its_option(given: dict[str, Any], refuse: Refuse, says: str) -> None:
    with ScriptedServer(openai_wire(refuse)) as server, pytest.raises(SettingsError, match=says):
        related(models(f"openai/fake@{server.url}/v1", **given))


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"top_p": 0.5}, {"top_p": 0.5}),
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"temperature": "none"}, {"top_p": 0.9}),
        ({"temperature": "None", "top_p": "none"}, {}),
    ],
)
def test_of_two_the_one_that_nobody_chose_is_left_out(given: dict[str, Any], sent: dict[str, float]) -> None:
    with ScriptedServer(openai_wire(claude_45)) as server:
        assert related(models(f"openai/fake@{server.url}/v1", seed="none", reply_tokens="none", **given)) == FOUND
        last = server.requests[-1].json
    assert {name: last[name] for name in ("temperature", "top_p") if name in last} == sent
    assert not {"seed", "max_tokens", "max_completion_tokens"} & set(last)


def test_a_model_of_ones_own_keeps_its_parameters() -> None:
    with ScriptedServer(openai_wire(reasoning)) as server:
        lm = dspy.LM("openai/mine", api_base=f"{server.url}/v1", api_key="k", temperature=0.3, cache=False)
        before = dict(lm.kwargs)
        settings = Settings(lm="object:openai/mine")
        asking = LanguageModels.outside_a_run(open_models(settings, objects={"lm": lm}), settings)
        with pytest.raises(SettingsError, match=r"refuses the temperature of your LM: .*0\.3.*make it without"):
            related(asking)
        assert (lm.kwargs, len(server.requests)) == (before, 1)


KEPT: list[Reply] = [
    *(openai_error("top_p is wrong", "top_p", status=status) for status in (401, 402, 404, 413)),
    openai_error("maximum context length is 10 tokens; temperature, top_p", code="context_length_exceeded"),
    openai_error("This model's context window is full, lower max_tokens or drop the system role"),
    openai_error("no such field"),
]


@pytest.mark.parametrize("reply", KEPT, ids=lambda one: str(one.body["error"]["message"]))
def test_no_other_error_makes_another_request(reply: Reply) -> None:
    with ScriptedServer(reply) as server:
        with pytest.raises((ModelError, ModelAuthError)):
            related(models(f"openai/fake@{server.url}/v1"))
        assert len(server.requests) == 1


def test_a_refusal_that_goes_on_ends(tmp_path: Path) -> None:
    """One more request for each part that is named, and nothing is remembered of it."""
    told = openai_error("temperature, top_p, seed, n, stop, max_tokens and roles are all wrong")
    events: list[Event] = []
    with ScriptedServer(told) as server:
        with pytest.raises(ModelError, match="all wrong"):
            related(models(f"openai/fake@{server.url}/v1", events))
        assert len(server.requests) == 4
    assert not any(isinstance(one, Degraded) for one in events)


class Claude(FakeModel):
    """A model that writes whole articles, and refuses what Claude 4.5 does."""

    refused = 0

    def _reply(self, request: Request) -> Reply:
        if told := claude_45(request.json):
            self.refused += 1
            return told
        return super()._reply(request)


def test_a_run_that_was_resumed_after_a_refusal_buys_nothing_again(tmp_path: Path) -> None:
    server = Claude(answers())
    with server:
        whole = storm(server, tmp_path / "whole").write("Silk Road")
        asked = len(server.asked)
        article = storm(server, tmp_path).resume(stopped(server, tmp_path, 6))
        assert (len(server.asked), server.refused) == (2 * asked, 2)  # one a run: the journal tells the resumed one
    assert text(article) == text(whole)
    for one in (whole, article):
        assert isinstance(one, Article)
        assert [problem.detail for problem in one.report.problems if "refuses" in problem.detail] == [
            "openai/fake refuses top_p: its calls leave it out"
        ]


@pytest.mark.parametrize("status", [200, 400, 404])
@pytest.mark.parametrize("lm", ["openai/fake", "anthropic/claude-sonnet-4-5", "mistral/m"])
def test_a_web_page_is_named(lm: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, "k")
    with ScriptedServer(Reply(status, "<!doctype html><title>top_p</title>")) as server:
        with pytest.raises(ModelError) as told:
            related(models(f"{lm}@{server.url}"))
        assert len(server.requests) == 1
        assert str(told.value) == (
            f"{lm} at {server.url} failed: it answered with a web page, not a completion: check --api-base, whose "
            "path is often /v1"
        )


def test_the_page_of_an_overloaded_gateway_is_no_wrong_address() -> None:
    with ScriptedServer(Reply(502, "<html>Bad Gateway</html>"), openai_wire()) as server:
        assert related(models(f"openai/fake@{server.url}/v1")) == FOUND

"""Asking models over the wire: retries, refusals, fresh samples, thinking text, bounds and usage."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from dspy.clients.base_lm import GLOBAL_HISTORY
from llm import FakeModel, completion
from servers import Reply, closed_port

from storm_pipeline.errors import BudgetSpentError, ModelAuthError, ModelError, ReplyError, SettingsError, StoppedError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs
from storm_pipeline.run.events import CallbackSink, CallFinished, Degraded, Event, Events, Noted, Retried
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import RunControl, Spending
from storm_pipeline.run.limits import Endpoints, Limits, within
from storm_pipeline.settings import Settings

PROGRAMS = Programs()


def models(
    lm: str, events: list[Event] | None = None, sleeps: list[float] | None = None, **settings: object
) -> LanguageModels:
    chosen = Settings.build({"lm": lm, "lm_timeout": 30, **settings})
    control = RunControl(chosen, Spending(), Halt(sleeps if sleeps is not None else []))
    return LanguageModels(
        open_models(chosen),
        events=Events(control, CallbackSink((events if events is not None else []).append)),
        control=control,
        journal=Journal(None),
        settings=chosen,
    )


class Halt(threading.Event):
    """Never set, and waits for nothing: notes how long it should have waited."""

    def __init__(self, waits: list[float]) -> None:
        super().__init__()
        self._waits = waits

    def wait(self, timeout: float | None = None) -> bool:
        self._waits.append(timeout or 0.0)
        return False


def related(asking: LanguageModels) -> list[str]:
    found: list[str] = asking.ask("asker", PROGRAMS.related, topic="Silk Road").related_topics
    return found


def test_litellm_is_imported_for_other_protocols_alone_and_fetches_no_prices(server: FakeModel) -> None:
    code = (
        "import os, socket, sys\nfrom storm_pipeline.models.asking import LanguageModels\n"
        "from storm_pipeline.models.open_models import open_models\n"
        "from storm_pipeline.models.programs import Programs\nfrom storm_pipeline.settings import Settings\n"
        f"settings = Settings.build({{'lm': {server.lm!r}}})\n"
        "asking = LanguageModels.outside_a_run(open_models(settings), settings)\n"
        "asking.ask('asker', Programs().related, topic='Silk Road')\nassert 'litellm' not in sys.modules\n"
        "os.environ.pop('LITELLM_LOCAL_MODEL_COST_MAP', None)\n"
        "socket.getaddrinfo = lambda *asked, **_: print('looked up', *asked)\n"
        "try:\n    open_models(Settings(lm='nobody/nothing'))\nexcept Exception:\n    import litellm\n"
    )
    command = [sys.executable, "-W", "error:Passing:DeprecationWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, len(server.asked)) == ("", 1)


def test_a_passing_failure_is_retried_as_the_server_asks() -> None:
    faults = [Reply(429, {"error": {"message": "slower"}}, {"Retry-After": "7"}), Reply(503, "busy"), Reply(reset=True)]
    events: list[Event] = []
    sleeps: list[float] = []
    with FakeModel(faults={"FindRelatedTopics": faults}) as server:
        assert related(models(server.lm, events, sleeps)) == ["Caravan", "Spice trade"]
        assert len(server.asked) == 4
    assert sleeps[0] == 7
    assert len([e for e in events if isinstance(e, Retried)]) == 3


@pytest.mark.parametrize(("header", "waits"), [({"Retry-After-Ms": "2500"}, 2.5), ({"Retry-After": "86400"}, 60)])
def test_a_wait_may_be_in_milliseconds_and_is_a_minute_at_most(header: dict[str, str], waits: float) -> None:
    sleeps: list[float] = []
    faults = [Reply(429, {"error": {"message": "later"}}, header)]
    with FakeModel(faults={"FindRelatedTopics": faults}) as server:
        related(models(server.lm, None, sleeps))
    assert sleeps == [waits]


@pytest.mark.parametrize(("status", "error"), [(401, ModelAuthError), (403, ModelAuthError), (400, ModelError)])
def test_a_refused_key_and_a_bad_request_are_never_retried(status: int, error: type[Exception]) -> None:
    with FakeModel(faults={"FindRelatedTopics": [Reply(status, {"error": {"message": "bad key"}})] * 9}) as server:
        with pytest.raises(error, match="key"):
            related(models(server.lm))
        assert len(server.asked) == 1


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with closed_port() as url, pytest.raises(ModelError, match=url.removeprefix("http://").split(":")[1]):
        related(models(f"openai/fake@{url}/v1", call_attempts=2))


def test_a_hung_endpoint_ends_within_the_time_out() -> None:
    faults = [Reply(delay=30)] * 9
    events: list[Event] = []
    with FakeModel(faults={"FindRelatedTopics": faults}) as server, pytest.raises(ModelError) as told:
        related(models(server.lm, events, lm_timeout=0.3, call_attempts=2))
    assert str(told.value) == (
        f"openai/fake at {server.url} failed: it timed out, no complete reply within 0.3 s; "
        "check that the endpoint runs, or raise --lm-timeout"
    )
    assert [it.reason for it in events if isinstance(it, Retried)] == ["it timed out, no complete reply within 0.3 s"]


def test_too_many_malformed_replies_are_an_error() -> None:
    events: list[Event] = []
    with FakeModel({"FindRelatedTopics": "no json"}) as server:
        with pytest.raises(ReplyError, match="3 replies in the wrong form"):
            related(models(server.lm, events, parse_attempts=3))
        assert len(server.asked) == 3
    assert len([event for event in events if isinstance(event, Retried)]) == 2  # the third is asked for no more


def test_a_truncated_reply_is_asked_for_again_with_a_fresh_sample() -> None:
    events: list[Event] = []
    with FakeModel(faults={"RefineOutline": [Reply(body=completion('{"sections": [{"title": "Hist'))]}) as server:
        asking = models(server.lm, events, seed=7)
        reply = asking.ask("outliner", PROGRAMS.refine, topic="Silk Road", sources="", interviews="", draft="")
        assert [section.title for section in reply.sections] == ["History", "Goods", "Routes", "Legacy"]
        assert [asked.body["seed"] for asked in server.asked] == [7, 8]
    (retried,) = (event for event in events if isinstance(event, Retried))
    assert "does not parse" in retried.reason


def test_no_call_is_remembered_once_it_is_told(server: FakeModel) -> None:
    chosen = Settings.build({"lm_timeout": 5})
    table = open_models(chosen.model_copy(update={"lm": server.lm}))
    asking = LanguageModels.outside_a_run(table, chosen)
    before = len(GLOBAL_HISTORY)
    for _ in range(5):
        related(asking)
    assert len(GLOBAL_HISTORY) == before
    assert all(not model.lm.history for model in table.values())
    assert not dspy.settings.lm


@pytest.mark.parametrize("reply", ["", "not json at all", "{", '{"choices": []}', json.dumps([1, 2])])
def test_a_body_that_is_no_completion_is_a_model_error(reply: str) -> None:
    with (
        FakeModel(faults={"FindRelatedTopics": [Reply(200, reply.encode())] * 20}) as server,
        pytest.raises(ModelError),
    ):
        related(models(server.lm, call_attempts=2, parse_attempts=2))


@pytest.mark.parametrize("engine", ["lm15", None])
def test_every_way_to_a_server_tells_cut_replies_and_reads_tool_calls(engine: str | None) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "reply", "arguments": '{"related_topics": ["A"]}'}}
    told = completion("")
    told["choices"][0] |= {"message": {"role": "assistant", "content": None, "tool_calls": [call]}}
    cut = completion('{"related_topics": ["B"]}')
    cut["choices"][0]["finish_reason"] = "length"
    events: list[Event] = []
    with FakeModel(faults={"FindRelatedTopics": [Reply(body=told), Reply(body=cut)]}) as server:
        lm = dspy.LM("openai/fake", api_base=server.url, api_key="x", engine=engine, cache=False) if engine else None
        chosen = Settings.build({"lm": "object:openai/fake" if lm else server.lm, "lm_timeout": 5})
        table = open_models(chosen, objects={"lm": lm} if lm else {})
        asking = LanguageModels.outside_a_run(table, chosen, Events(CallbackSink(events.append)))
        assert [related(asking), related(asking)] == [["A"], ["B"]]
    (told_of,) = (event.detail for event in events if isinstance(event, Degraded))
    assert told_of.endswith("raise max_tokens of the model that was passed" if lm else "the limit is the server’s own)")


MALFORMED: list[object] = [
    *(None, "x", [], 3, {}, "100", {"prompt_tokens": "100", "completion_tokens": "5"}, {"prompt_tokens": True}),
    *({"prompt_tokens": -5, "completion_tokens": -7}, {"prompt_tokens": 1.5}, {"prompt_tokens": [1]}),
    *({"prompt_tokens": None}, {"prompt_tokens_details": "x"}, {"prompt_tokens_details": {"cached_tokens": -4}}),
    *({"completion_tokens_details": [1]}, {"prompt_tokens": 0, "completion_tokens": 0}),
    {"prompt_tokens": 10**400, "completion_tokens": 10**400},
]


@pytest.mark.parametrize("usage", MALFORMED, ids=lambda usage: str(usage)[:60])
def test_malformed_usage_never_discards_a_reply(usage: object) -> None:
    events: list[Event] = []
    body = completion('{"related_topics": ["A"]}', usage=False) | {"usage": usage}
    with FakeModel(faults={"FindRelatedTopics": [Reply(200, json.dumps(body).encode())]}) as server:
        assert related(models(server.lm, events)) == ["A"]
        assert len(server.asked) == 1
    (call,) = (event for event in events if isinstance(event, CallFinished))
    assert call.estimated
    assert 50 < call.tokens_in < 10_000
    assert 0 < call.tokens_out < 10_000
    assert call.tokens_cached == 0


def test_concurrent_calls_with_long_replies_keep_within_a_cap() -> None:
    events: list[Event] = []
    usage = {"prompt_tokens": 100, "completion_tokens": 16_000, "total_tokens": 16_100}
    long = Reply(body=completion('{"related_topics": ["A"]}') | {"usage": usage}, delay=0.2)
    with FakeModel(faults={"FindRelatedTopics": [long] * 8}) as server:
        asking = models(server.lm, events, prices=["fake=0/10"], max_cost=0.6)  # 60 % for the asker

        def refused(_: int) -> bool:
            try:
                return related(asking) != ["A"]
            except BudgetSpentError:
                return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(refused, range(8))) == 6
    assert sum(event.cost or 0 for event in events if isinstance(event, CallFinished)) == pytest.approx(0.32)


@pytest.mark.parametrize(
    ("lost", "timeout"),
    [
        (Reply(body=json.dumps(completion("word " * 500)).encode()[:-20]), 5.0),  # the connection broke off
        (Reply(body={"choices": "none"}), 5.0),
        (Reply(delay=30), 0.1),
    ],
    ids=["cut", "of another form", "late"],
)
def test_replies_that_are_billed_and_not_read_count_against_the_caps(lost: Reply, timeout: float) -> None:
    events: list[Event] = []
    with FakeModel(faults={"FindRelatedTopics": [lost] * 99}) as server:
        asking = models(server.lm, events, prices=["fake=100/100"], max_cost=0.3, call_attempts=20, lm_timeout=timeout)
        with pytest.raises(BudgetSpentError):
            related(asking)
        asked = len(server.asked)
    calls = [event for event in events if isinstance(event, CallFinished)]
    assert 1 < len(calls) == asked < 20
    assert all(call.estimated and call.cost and call.tokens_in > 100 for call in calls)
    assert (lost.delay > 0) == (sum(call.tokens_out for call in calls) == 0)


def test_the_schema_travels_only_where_it_is_wanted(server: FakeModel) -> None:
    related(models(server.lm, structured="never"))
    related(models(server.lm, structured="always"))
    first, second = (asked.body for asked in server.asked)
    assert "response_format" not in first
    schema = second["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["related_topics"]["maxItems"] == 8
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("end", ["", "/", "/v1"])
@pytest.mark.parametrize("provider", ["ollama", "ollama_chat"])
def test_addresses_of_ollama(server: FakeModel, monkeypatch: pytest.MonkeyPatch, provider: str, end: str) -> None:
    address = server.url.removesuffix("/v1") + end
    assert related(models(f"{provider}/fake@{address}")) == ["Caravan", "Spice trade"]
    monkeypatch.setenv("OLLAMA_API_BASE", address)
    assert related(models(f"{provider}/fake")) == ["Caravan", "Spice trade"]


@pytest.mark.parametrize("ends", ["stop", "minutes"])
def test_waiting_for_a_turn_ends_with_the_run(ends: str) -> None:
    halt, shared, events = threading.Event(), Limits(endpoints=Endpoints()), Events()
    with FakeModel() as server, within(shared):
        settings = Settings.build({"lm": server.lm, "process_workers": 1, "max_minutes": 0.01})
        table = open_models(settings)
        shared.reserve("another", table["asker"].where, 1, 0.0, calls=1)
        control = RunControl(settings, Spending(), halt)
        asking = LanguageModels(table, events=events, control=control, journal=Journal(None), settings=settings)
        if ends == "stop":
            halt.set()
        with pytest.raises(StoppedError if ends == "stop" else BudgetSpentError):
            related(asking)
        assert not server.asked
        shared.settle("another", 1, 0.0)
        assert shared.reserve("next", table["asker"].where, 1, 0.0, calls=1) == "reserved"


def test_tokens_of_a_minute_hold_for_all_runs_and_a_larger_call_is_made_and_noted() -> None:
    shared, events = Limits(endpoints=Endpoints(lambda: 0.0)), list[Event]()
    with FakeModel() as server, within(shared):
        assert related(models(server.lm, events, tokens_per_minute=10)) == ["Caravan", "Spice trade"]
        (note,) = [event.detail for event in events if isinstance(event, Noted)]
        assert "more than the 10 of --tokens-per-minute" in note
        with pytest.raises(BudgetSpentError, match="--max-minutes"):
            related(models(server.lm, tokens_per_minute=10, max_minutes=0.01))
        assert len(server.asked) == 1


def test_nothing_falls_back_to_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match=r"no key set.*OPENAI_API_KEY"):
        related(models("openai/gpt-4o"))


def test_a_key_goes_only_where_it_belongs(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    related(models(server.lm, api_key_env="MY_KEY"))
    assert server._server.requests[0].headers["authorization"] == "Bearer secret-1"

"""How much evidence a model's window has room for, and that no prompt has more than it."""

from collections.abc import Mapping
from typing import Any

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokens import gpt_4_tokens

from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.prices import ASSUMED, fit_to_window, window_note, window_of
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.events import CallbackSink, Degraded, Event, Events
from storm_pipeline.settings import ROLES, Settings
from storm_pipeline.text.fitting import fit_inputs, most_tokens

ENGLISH = "The Oder rises in the Czech Republic and flows 854 km to the Baltic Sea. "
TEXTS = {
    "en": ENGLISH,
    "de": "Die Oder entspringt in Tschechien und fließt 854 km weit bis zur Ostsee, größtenteils als Grenzfluß. ",
    "ru": "Одра берёт начало в Чехии и течёт 854 км до Балтийского моря через Польшу. ",
    "ar": "ينبع نهر أودر من جمهورية التشيك ويجري لمسافة 854 كيلومترا إلى بحر البلطيق. ",
    "zh": "奥得河发源于捷克，全长八百五十四公里，注入波罗的海，大部分河段是德国与波兰的界河。",
    "ja": "オーデル川はチェコに源を発し、全長は854キロメートルで、バルト海に注ぐ国際河川である。",
    "hi": "ओडर नदी चेक गणराज्य से निकलती है और बाल्टिक सागर में गिरती है। ",
}


class Reader:
    """An engine of DSPy that notes what it is sent."""

    def __init__(self) -> None:
        self.read: list[int] = []
        self.prompts: list[str] = []

    def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
        texts = [str(request.system), *(message.text or "" for message in request.messages)]
        self.read.append(sum(map(most_tokens, texts)))
        self.prompts.append(texts[-1])
        reply = dspy.lm15.Message.assistant([dspy.lm15.TextPart("A sentence. [1]")])
        return dspy.lm15.Response(None, request.model, reply, "stop", dspy.lm15.Usage())


def asked(program: Program, inputs: Mapping[str, Any], **settings: Any) -> tuple[int, str, list[Event]]:
    """Most tokens of the prompt that a writer is sent, the prompt, and the events."""
    reader, told = Reader(), list[Event]()
    lm = dspy.LM("reader/x", engine=reader, cache=False, num_retries=0)
    models = {role: Model(lm, PromptAdapter(), "x", "here") for role in ROLES}
    events = Events(CallbackSink(told.append))
    LanguageModels.outside_a_run(models, Settings.build(settings), events).ask("writer", program, **inputs)
    return reader.read[0], reader.prompts[0], told


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lm": "openai/gpt-4o"}, 3000),
        ({"lm": "anthropic/claude-sonnet-4-5", "depth": 3}, 6000),
        ({"lm": "openai/gpt-4o", "evidence": 20000}, 20000),
        ({"lm": "openai/gpt-4"}, 1536),
        ({"lm": "openai/gpt-4o", "writer_lm": "openai/gpt-4"}, 1536),
        ({"lm": "openai/gpt-4o", "asker_lm": "openai/gpt-4"}, 3000),
        ({"lm": "openai/gpt-4", "evidence": 500}, 500),
        ({"lm": "openai/gpt-4o@http://localhost:1/v1", "context": 4096}, 768),
        ({"lm": "openai/mine@http://localhost:1/v1"}, 3000),
        ({"lm": "openai/mine@http://localhost:1/v1", "depth": 3}, 3072),
        ({"lm": "openai/mine@http://localhost:1/v1", "depth": 3, "context": 32768}, 6000),
        ({"lm": "embedded"}, 3000),
        ({"lm": "gguf:x.gguf", "context": 200000, "depth": 3}, 3072),
        ({"lm": "object:openai/gpt-4"}, 1536),
    ],
)
def test_evidence_follows_the_window(given: dict[str, Any], words: int) -> None:
    assert fit_to_window(Settings.build(given)).evidence_words == words


@given(
    st.sampled_from(["embedded", "openai/gpt-4", "openai/gpt-4o", "openai/x", "gguf:x"]),
    st.none() | st.integers(2048, 10**6),
    st.none() | st.integers(200, 10**5),
    st.sampled_from([None, 1, 2, 3]),
)
def test_evidence_is_settled_once_and_never_more_than_asked_for(
    lm: str, context: int | None, evidence: int | None, depth: int | None
) -> None:
    given = {"lm": lm, "context": context, "evidence": evidence, "depth": depth, "writing": "whole"}
    asked_for = Settings.build({name: value for name, value in given.items() if value is not None})
    made = fit_to_window(asked_for)
    assert fit_to_window(made) == made
    assert 0 < made.evidence_words <= asked_for.evidence_words
    assert made.evidence_words * 2 <= (window_of(asked_for, "writer") or ASSUMED) / 2
    assert made.interview_words <= asked_for.interview_words
    assert bool(window_note(asked_for)) == (made.evidence_words < asked_for.evidence_words)
    larger = fit_to_window(asked_for.model_copy(update={"context": 2 * (context or 2048) + 10**6}))
    assert larger.evidence_words >= made.evidence_words


@pytest.mark.parametrize("language", TEXTS)
def test_tokens_are_not_undercounted(language: str) -> None:
    assert gpt_4_tokens()(TEXTS[language] * 5) <= most_tokens(TEXTS[language] * 5)


@given(
    st.dictionaries(
        st.sampled_from(["passages", "draft", "conversation", "words"]), st.text(max_size=300) | st.integers()
    ),
    st.integers(-50, 300),
)
def test_inputs_are_shortened_to_the_room_there_is(inputs: dict[str, Any], room: int) -> None:
    made = fit_inputs(inputs, room)
    told = [name for name, value in inputs.items() if isinstance(value, str)]
    assert list(made) == list(inputs)
    assert sum(most_tokens(made[name]) for name in told) <= max(0, room)
    for name in told:
        assert inputs[name].endswith(made[name]) if name == "conversation" else inputs[name].startswith(made[name])
    if sum(most_tokens(inputs[name]) + 12 for name in told) <= room:
        assert made == inputs


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("window", [4096, 8192, 16384])
def test_no_prompt_has_more_than_a_known_window(language: str, window: int) -> None:
    passages = "\n".join(f"[{i}] Title (site, 2020-01-01): {TEXTS[language] * 10}" for i in range(1, 80))
    inputs = {
        "article": "The Oder",
        "language": "",
        "style": "",
        "outline": "\n".join(f"# Heading {i}\n## Below it" for i in range(10)),
        "section": "History",
        "words": 400,
        "passages": passages,
        "findings": "\n".join(f"- {TEXTS[language]} [{i}]" for i in range(1, 40)),
    }
    tokens, prompt, told = asked(Programs().section, inputs, lm="openai/x", context=window)
    assert tokens <= window - min(1500, window // 8)  # the reply needs room too
    assert "[1] Title" in prompt
    assert any(isinstance(event, Degraded) and f"{window:,}" in event.detail for event in told)


def test_of_an_unknown_window_nothing_is_cut() -> None:
    inputs = dict.fromkeys(Programs().section.predict.signature.input_fields, "") | {"passages": ENGLISH * 20000}
    _, prompt, told = asked(Programs().section, inputs, lm="openai/x")
    assert (ENGLISH * 20000).strip() in prompt
    assert not [event for event in told if isinstance(event, Degraded)]

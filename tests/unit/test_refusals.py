"""Which part of a request an error is about, whatever its body; and what `none` means in the settings."""

import json
from pathlib import Path

import pytest
from dspy.utils.exceptions import LMError, LMInvalidRequestError
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.configuration.layers import load_settings
from storm_pipeline.models.model_objects import Model, StatelessLM
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.refusals import Refusals
from storm_pipeline.models.request import Request
from storm_pipeline.run.events import Events
from storm_pipeline.settings import Settings

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "param", "loc", "x"]), inner),
)


def request(**options: object) -> Request:
    lm = StatelessLM("openai/fake", api_key="k", temperature=1.0, top_p=0.9)
    return Request("writer", Model(lm, PromptAdapter(), "fake", "here"), MESSAGES, options, 16, "")


def part(body: str, error: LMError | None = None, **options: object) -> str | None:
    error = error or LMInvalidRequestError("refused", status=400)
    return Refusals(Events(), Settings()).part_to_leave_out(request(**options), (), error, body)


@given(JSON.map(json.dumps) | st.text())
def test_any_body_is_read(body: str) -> None:
    assert part(body) in {None, "temperature", "top_p", "system role"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('{"error": {"param": "temperature", "message": "not beside top_p"}}', "temperature"),
        ('{"error": {"param": null, "message": "temperature and top_p"}}', "top_p"),
        ('{"error": "n must be 1"}', "n"),
        ("the seed is unknown", "seed"),
        ('{"message": "unknown stop_sequences"}', "stop"),
        ('{"detail": [{"loc": ["body", "x"], "msg": "required", "input": {"message": "top_p"}}]}', None),
        ('{"message": "temperatures, topping_p and nothing"}', None),
        ('{"message": "maximum context length; lower max_tokens or top_p"}', None),
        ("[" * 9000, None),
    ],
)
def test_a_part_is_named_by_a_whole_word(body: str, found: str | None) -> None:
    assert part(body, n=2, seed=7, stop=["%"], max_tokens=9) == found


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "reply_tokens"])
def test_none_leaves_a_parameter_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_HOME", str(tmp_path))  # his own file
    left_out = "none" if name in {"temperature", "top_p"} else None
    (tmp_path / "storm.toml").write_text(f"{name} = {'0.5' if left_out else '50'}")
    assert getattr(load_settings(folder=tmp_path), name) in {0.5, 50}
    assert getattr(load_settings({name: "none"}, tmp_path), name) == left_out
    monkeypatch.setenv(f"STORM_{name.upper()}", "None")
    assert getattr(load_settings(folder=tmp_path), name) == left_out
    (tmp_path / "storm.toml").write_text(f'{name} = "none"')
    monkeypatch.delenv(f"STORM_{name.upper()}")
    assert getattr(load_settings(folder=tmp_path), name) == left_out
    with pytest.raises(SettingsError, match=f"setting '{name}' cannot be 'nothing' .--{name.replace('_', '-')}."):
        Settings.build({name: "nothing"})


@pytest.mark.parametrize(("name", "value"), [("temperature", 2.1), ("temperature", -1), ("top_p", 0), ("top_p", 1.5)])
def test_a_value_out_of_range_is_refused(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"setting '{name}' cannot be .* than"):
        Settings.build({name: value})

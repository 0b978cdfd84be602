"""What type checkers and editors know of the settings is what the settings are."""

from typing import Any, get_type_hints

import pytest

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.settings import Settings
from storm_pipeline.storm import StormKeywords
from storm_pipeline.text.configuration.keywords import SettingsKeywords

OBJECTS = {"lm", "search", "embedder", "programs"}
"""Settings that may be given as objects, and so are parameters of Storm's own."""


def test_the_keywords_are_the_settings() -> None:
    settings: dict[str, Any] = {name: get_type_hints(Settings)[name] for name in Settings.model_fields}
    assert get_type_hints(SettingsKeywords) == {n: kind for n, kind in settings.items() if n not in OBJECTS}
    assert not SettingsKeywords.__required_keys__


def test_the_keywords_of_write_are_those_of_storm() -> None:
    own = {name: hint for name, hint in get_type_hints(Storm.__init__).items() if name not in {"settings", "return"}}
    own.pop("keywords")
    told = get_type_hints(StormKeywords)
    assert {name: told[name] for name in own if name != "sinks"} == {n: hint for n, hint in own.items() if n != "sinks"}
    assert set(told) == set(own) | set(get_type_hints(SettingsKeywords))


def test_a_setting_that_may_be_an_object_may_be_a_name() -> None:
    storm = Storm(lm="openai/gpt-4o", search="you", embedder="some/folder", models={"writer": "openai/gpt-4o-mini"})
    chosen = storm.settings
    assert (chosen.lm, chosen.search, chosen.embedder) == ("openai/gpt-4o", "you", "some/folder")
    assert (chosen.lm_of("writer"), chosen.lm_of("asker")) == ("openai/gpt-4o-mini", "openai/gpt-4o")


@pytest.mark.parametrize("models", [{"critic": "openai/gpt-4o"}, {"writer": 3}])
def test_what_is_no_role_or_no_model_is_refused(models: Any) -> None:
    with pytest.raises(SettingsError, match=r"critic|int"):
        Storm(models=models)

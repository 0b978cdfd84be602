"""Keywords of Storm that may be names or objects."""

from typing import Any

import pytest

from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError


def test_a_setting_that_may_be_an_object_may_be_a_name() -> None:
    storm = Storm(lm="openai/gpt-4o", search="you", embedder="some/folder", models={"writer": "openai/gpt-4o-mini"})
    chosen = storm.settings
    assert (chosen.lm, chosen.search, chosen.embedder) == ("openai/gpt-4o", "you", "some/folder")
    assert (chosen.lm_of("writer"), chosen.lm_of("asker")) == ("openai/gpt-4o-mini", "openai/gpt-4o")


@pytest.mark.parametrize("models", [{"critic": "openai/gpt-4o"}, {"writer": 3}])
def test_what_is_no_role_or_no_model_is_refused(models: Any) -> None:
    with pytest.raises(SettingsError, match=r"critic|int"):
        Storm(models=models)

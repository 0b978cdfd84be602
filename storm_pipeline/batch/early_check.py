"""Whether any topic of a batch can be begun, before the batch's folder is made."""

from collections.abc import Mapping, Sequence
from typing import Any

from storm_pipeline.batch.topic_requests import TopicRequest
from storm_pipeline.errors import SettingsError
from storm_pipeline.run.keys import require_keys
from storm_pipeline.settings import Settings


def require_some_keys(settings: Mapping[str, Any], requests: Sequence[TopicRequest]) -> None:
    """Check that the keys of at least one topic are set; topics that lack theirs fail by themselves.

    Args:
        settings: the batch's settings, by field name.
        requests: the topics, at least one.

    Raises:
        SettingsError: no topic can be begun; says what the first one lacks.
    """
    problems: list[str] = []
    for request in requests:
        try:
            require_keys(Settings.build({**settings, **request.settings}))
        except SettingsError as error:
            problems.append(f"{request.place}: {error}" if request.place and request.settings else str(error))
        else:
            return
    raise SettingsError(problems[0])

"""A model behind an OpenAI-compatible server that continues plain texts; the embedded one among them."""

from collections.abc import Sequence
from pathlib import Path

from storm_bench.conner.knowledge import Drawing
from storm_bench.errors import MetricError
from storm_pipeline import SettingsError
from storm_pipeline.api import EMBEDDED_MODELS, fetch, parallel_map, shared_server

_SIDE_BY_SIDE = 4
_TIMEOUT = 300.0


class Completions:
    """Asks ``/completions`` of a server, four prompts side by side.

    Args:
        url: of the server, up to and with ``/v1``.
        model: its name there.
        key: sent as a bearer token.
    """

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self.name = model
        self._url = f"{url.rstrip('/')}/completions"
        self._key = key

    def complete(self, prompts: Sequence[str], *, tokens: int, drawing: Drawing) -> list[str]:
        """As :class:`~storm_bench.conner.knowledge.Completing`.

        Raises:
            MetricError: the server cannot be asked, or answers with an error.
        """
        chosen: dict[str, float] = {"temperature": 0.0}
        if drawing.top_p is not None:
            chosen = {"temperature": 1.0, "top_p": drawing.top_p}
        body = {"model": self.name, "max_tokens": tokens, "stop": ["\n"], "seed": drawing.seed, **chosen}
        return parallel_map(lambda prompt: self._asked({**body, "prompt": prompt}), prompts, workers=_SIDE_BY_SIDE)

    def _asked(self, body: dict[str, object]) -> str:
        import requests

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            answer = requests.post(self._url, json=body, headers=headers, timeout=_TIMEOUT)
            answer.raise_for_status()
            return str(answer.json()["choices"][0]["text"]).strip()
        except (requests.RequestException, ValueError, LookupError, TypeError) as error:
            raise MetricError(f"{self._url} gave no completion ({error}): check the server and the model") from error


def open_completions(name: str, cache: Path) -> Completions:
    """The embedded model of a name, served by this process.

    Raises:
        SettingsError: there is no such embedded model.
        AssetError, MissingExtraError, ModelError: it cannot be fetched or loaded.
    """
    if name not in EMBEDDED_MODELS:
        raise SettingsError(f"there is no embedded model {name!r}: choose one of {', '.join(EMBEDDED_MODELS)}")
    server = shared_server(fetch(EMBEDDED_MODELS[name], cache), slots=_SIDE_BY_SIDE, context=8192)
    return Completions(server.url, server.model, server.key)

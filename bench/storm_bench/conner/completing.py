"""Models that continue plain texts: those that this process serves, and any other by messages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storm_bench.conner.knowledge import Completing, Drawing
from storm_bench.errors import MetricError
from storm_pipeline import Settings, SettingsError
from storm_pipeline.api import EMBEDDED_MODELS, LanguageModels, fetch, open_models, parallel_map, shared_server

_SIDE_BY_SIDE = 4
_TIMEOUT = 300.0
_CONTINUE = "Continue the text that you are given. Reply with its next line alone, and repeat nothing of it."


class Completions:
    """Asks ``/completions`` of a server, four prompts side by side. ``url``: of the server, up to and with ``/v1``."""

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self.name = model
        self._url = f"{url.rstrip('/')}/completions"
        self._key = key

    def complete(self, prompts: Sequence[str], *, tokens: int, drawing: Drawing) -> list[str]:
        """As :class:`~storm_bench.conner.knowledge.Completing`.

        Raises MetricError: the server cannot be asked, or answers with an error.
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


class Messages:
    """Asks a model that takes messages for the next line, with the retries and limits of the settings.

    Such a model does not continue a text by itself: it is told to, and its first line counts, cut to as many words as
    tokens were asked for, since models that reason spend tokens before they reply. These draw as they please.
    ``settings``: ``lm`` names the model. Raises SettingsError, MissingExtraError, ModelError: the model cannot be
    opened.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.model_copy(update={"writer_lm": None})
        self.name = open_models(self._settings)["writer"].name

    def complete(self, prompts: Sequence[str], *, tokens: int, drawing: Drawing) -> list[str]:
        """As :class:`~storm_bench.conner.knowledge.Completing`.

        Raises ModelAuthError, ModelError: the model refuses the key or the request, or cannot be reached.
        """
        drawn = {"temperature": 0.0 if drawing.top_p is None else 1.0, "top_p": drawing.top_p or 1.0}
        own = self._settings.model_copy(update=drawn)
        seeded: dict[str, Any] = (
            {} if own.seed is None else {"seed": own.seed + drawing.seed}
        )  # some providers refuse seeds
        unchosen = own.model_copy(update=dict.fromkeys(drawn))  # not the user's: left out where the model refuses it
        models = LanguageModels.outside_a_run({"writer": open_models(own)["writer"]}, unchosen)

        def line(prompt: str) -> str:
            asked = [{"role": "system", "content": _CONTINUE}, {"role": "user", "content": prompt}]
            reply = models.lm("writer", tokens)(messages=asked, **seeded)[0]
            text = str(reply["text"] if isinstance(reply, dict) else reply).strip()
            return " ".join(text.partition("\n")[0].split()[:tokens])

        return parallel_map(line, prompts, workers=_SIDE_BY_SIDE)


def open_writer(name: str, settings: Settings) -> Completing:
    """Any model that ``storm write --lm`` takes; embedded models and GGUF files continue texts in this process.

    Raises:
        SettingsError: there is no such model, or a setting does not go with it.
        AssetError, MissingExtraError, ModelError: it cannot be fetched or loaded.
    """
    if name in EMBEDDED_MODELS or name.startswith("gguf:"):
        asset = EMBEDDED_MODELS.get(name)
        file = fetch(asset, settings.cache) if asset else Path(name.removeprefix("gguf:")).expanduser()
        server = shared_server(file, slots=_SIDE_BY_SIDE, context=8192)
        return Completions(server.url, server.model, server.key)
    if name.startswith("embedded"):
        raise SettingsError(f"there is no embedded model {name!r}: choose one of {', '.join(EMBEDDED_MODELS)}")
    return Messages(settings.model_copy(update={"lm": name}))

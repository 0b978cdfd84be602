"""Opening the models in the settings by role; choice of key and address for each."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import Model, ModelObject, StatelessLM, is_object, model_object
from storm_pipeline.models.prices import full_name, parse_prices, price_of, require_prices
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.assets import EMBEDDED_MODELS, Progress, fetch
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded
from storm_pipeline.text.configuration.addresses import fill_in, redact
from storm_pipeline.text.configuration.setting_types import NONE
from storm_pipeline.text.configuration.variables import model_and_endpoint, provider_of, secret, variable
from storm_pipeline.types import Price

_PAPER_SAMPLING = (1.0, 0.9)
_EMBEDDED_SAMPLING = (0.7, 0.8)
"""Temperature and top_p: of the paper (section 4.4), and recommended by the embedded model's vendor."""
_EMBEDDED_TIMEOUT = 3600.0  # seconds; long, since calls wait for a free slot and machines may be slow
_OLLAMA = "http://localhost:11434"
_NO_KEY = "none"  # self-hosted servers need no key, but client libraries require one


def open_models(
    settings: Settings, progress: Progress | None = None, objects: Mapping[str, ModelObject] | None = None
) -> dict[Role, Model]:
    """Open the models that the settings name, by role; starts the embedded model if one is named.

    ``progress``: called with ``(name, bytes done, total bytes)`` while the embedded model is fetched; ``objects``:
    setting, such as ``writer_lm`` → model object.

    Raises SettingsError: a name or key variable is unusable, or a model object is missing; MissingExtraError,
    AssetError, ModelError: the embedded model cannot be started.
    """
    _prepare_litellm()
    prices = parse_prices(settings.prices)
    fields = {role: settings.names_model_of(role) for role in ROLES}
    opened: dict[str, Model] = {}
    for setting in dict.fromkeys(fields.values()):
        name = getattr(settings, setting)
        if is_object(name):
            opened[setting] = object_model(model_object(name, setting, objects or {}), settings, prices)
        else:
            price = price_of(full_name(name, settings), prices)
            opened[setting] = replace(_open(name, settings, progress), price=price)
    require_prices(settings.max_cost, {model.name: model.price for model in opened.values()})
    return {role: opened[fields[role]] for role in ROLES}


def open_model(name: str, settings: Settings) -> Model:
    """Open one hosted model, without its price; errors as :func:`open_models`."""
    _prepare_litellm()
    return _open(name, settings, None)


def _prepare_litellm() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # prices come with the package, not from the network
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else LiteLLM puts the nearest .env into the environment


def object_model(passed: ModelObject, settings: Settings, prices: Mapping[str, Price]) -> Model:
    """Wrap a model object of the user or of a predictor with its price."""
    if isinstance(passed, Model):
        return passed if passed.price else replace(passed, price=price_of(passed.name, prices))
    base = redact(passed.kwargs.get("api_base") or passed.kwargs.get("base_url") or "")
    price = price_of(f"{passed.model}@{base}" if base else passed.model, prices)
    adapter = PromptAdapter(structured=_wants_schema(passed, settings))
    return Model(passed, adapter, passed.model, base or f"the provider of {passed.model}", price=price)


def _open(name: str, settings: Settings, progress: Progress | None) -> Model:
    if is_embedded(name):
        return _open_embedded(name, settings, progress)
    model, base = endpoint_of(name, settings)
    _check_provider(model)
    use = key_use(name, settings)
    given: dict[str, Any] = {"timeout": settings.lm_timeout, "api_base": fill_in(base), "api_key": use.key}
    if model.startswith(("ollama/", "ollama_chat/")):
        address = fill_in(use.address) or _OLLAMA
        address = address if urlsplit(address).path.strip("/") else address.rstrip("/") + "/v1"
        given = {"engine": _engine(address, use.key or "none", settings.lm_timeout)}
    if model.startswith("openai/"):
        given = {"engine": _engine(fill_in(use.address), use.key or "", settings.lm_timeout)}
    lm = _lm(model, settings, **{name: value for name, value in given.items() if value})
    if "engine" not in given:
        lm = _with_transport(lm, settings, use.key or "", fill_in(base))
    where = base or f"the provider of {model}"
    return Model(lm, PromptAdapter(structured=_wants_schema(lm, settings)), model, where)


def _with_transport(lm: dspy.LM, settings: Settings, key: str, address: str) -> dspy.LM:
    """Return a model whose replies are bounded as they are read, asked by DSPy's own client or else by LiteLLM."""
    from dspy.clients.backend_selection import select_backend

    from storm_pipeline.models.transport import NativeEngine, give_litellm_transport

    selected = select_backend(lm)
    if not selected.native:
        give_litellm_transport()
        return lm
    key = selected.clients.get("api_key", "") or key
    return _lm(lm.model, settings, engine=NativeEngine(selected.resolution.provider, address, key, settings.lm_timeout))


def _engine(address: str, key: str, timeout: float) -> Any:
    """Make the engine for a server of OpenAI's protocol; imported here, since its client loads slowly."""
    from storm_pipeline.models.transport import OPENAI, OpenAIEngine

    return OpenAIEngine(address or OPENAI, key, timeout)


def _check_provider(model: str) -> None:
    provider, slash, _ = model.partition("/")
    if not slash:
        raise SettingsError(f"{model!r} names no provider: write provider/model, such as openai/gpt-4o, or 'embedded'")
    if provider_of(model):
        return

    import litellm
    from litellm.exceptions import BadRequestError

    prints, litellm.suppress_debug_info = litellm.suppress_debug_info, True
    try:
        litellm.get_llm_provider(model)
    except BadRequestError as error:
        raise SettingsError(
            f"LiteLLM knows no provider {provider!r}: write provider/model, such as openai/gpt-4o, or 'embedded'"
        ) from error
    finally:
        litellm.suppress_debug_info = prints


def _open_embedded(name: str, settings: Settings, progress: Progress | None) -> Model:
    from storm_pipeline.models.llama_server import runtime, shared_server

    if not name.startswith("gguf:") and name not in EMBEDDED_MODELS:
        raise SettingsError(f"there is no model {name!r}: choose one of {', '.join(EMBEDDED_MODELS)}, or gguf:PATH")
    runtime()  # fail before the download
    asset = EMBEDDED_MODELS.get(name)
    path = fetch(asset, settings.cache, progress) if asset else Path(name.removeprefix("gguf:")).expanduser()
    server = shared_server(path)
    engine = _engine(server.url, server.key, _EMBEDDED_TIMEOUT)
    lm = _lm(f"openai/{server.model}", settings, _EMBEDDED_SAMPLING, engine=engine)
    adapter, greedy = PromptAdapter(structured=settings.structured != "never"), settings.temperature is None
    return Model(lm, adapter, server.model, "the embedded model", bounded=True, greedy=greedy)


def _lm(model: str, settings: Settings, sampling: tuple[float, float] = _PAPER_SAMPLING, **options: Any) -> dspy.LM:
    temperature, top_p = settings.temperature, settings.top_p
    decoding = {
        "temperature": sampling[0] if temperature is None else temperature,
        "top_p": sampling[1] if top_p is None else top_p,
        "max_tokens": settings.reply_tokens,
    }
    # DSPy's cache and retries are off: it would cache replies that do not parse and retry refusals
    lm = StatelessLM(model, cache=False, num_retries=0, **options)
    lm.kwargs |= {name: value for name, value in decoding.items() if value not in (None, NONE)}
    return lm  # set afterwards, since DSPy refuses some values by the model's name


def _wants_schema(lm: dspy.BaseLM, settings: Settings) -> bool:
    if settings.structured != "auto":
        return settings.structured == "always"
    if isinstance(lm, StatelessLM) and not isinstance(lm.engine, str):  # DSPy knows models, not other engines
        lm = dspy.LM(lm.model, engine="lm15")
    return bool(lm.supports_response_schema)


def endpoint_of(name: str, settings: Settings) -> tuple[str, str]:
    """Split a model's name and its endpoint, which is empty for the provider's default."""
    model, base = model_and_endpoint(name)
    return model, base or (settings.api_base or "" if name == settings.lm else "")


@dataclass(frozen=True)
class KeyUse:
    """A key and the address that it is sent to."""

    variable: str  # its variable; empty if no key is sent, or the provider's client finds it
    address: str  # its address; empty for the provider's default
    # its value; None: the provider's client finds it, and only uses the provider's address
    key: str | None = field(repr=False)

    def __str__(self) -> str:
        if not self.variable:
            return "no key is sent" if self.key else "its provider's client finds the key"
        return f"{self.variable} is set, and sent to {self.address or 'the provider alone'}"


def key_use(name: str, settings: Settings) -> KeyUse:
    """Choose the key and address for a hosted model; the only place of this decision.

    ``api_key_env`` is the key of ``lm`` and of other models at the same address; if ``lm`` is embedded, of the first
    hosted model. A provider's usual key is sent to the provider, or to the address in the settings.

    Raises SettingsError, naming the variable: no key is set, or it is malformed.
    """
    model, base = endpoint_of(name, settings)
    address = base or _environment_address(model)
    if settings.api_key_env and _shares_the_key(name, settings):
        if key := secret(settings.api_key_env):
            return KeyUse(settings.api_key_env, address, _require_printable(settings.api_key_env, key))
        raise SettingsError(f"no key set for {model}: set {settings.api_key_env}, which --api-key-env names")
    provider, prefix = provider_of(model), model.split("/")[0].upper()
    usual = (provider.key_variable if provider else None) or f"{prefix}_API_KEY"
    if (provider or base) and (key := variable(usual)):
        return KeyUse(usual, address, _require_printable(usual, key))
    if base:
        return KeyUse("", address, _NO_KEY)
    if provider:
        raise SettingsError(
            f"no key set for {model}: set {provider.variables[0]} in the environment or a file that --env-file "
            "names, or name another variable with --api-key-env"
        )
    return KeyUse("", address, None)


def _shares_the_key(name: str, settings: Settings) -> bool:
    """Return whether a model has the same address as the model of ``api_key_env``."""
    hosted = [n for n in (settings.lm, *map(settings.lm_of, ROLES)) if not is_embedded(n) and not is_object(n)]
    return not hosted or _place(name, settings) == _place(hosted[0], settings)


def _place(name: str, settings: Settings) -> tuple[str, ...]:
    model, base = endpoint_of(name, settings)
    parts = urlsplit(base)
    return (parts.scheme, parts.netloc) if base else (model.split("/")[0],)


def _environment_address(model: str) -> str:
    """Return the address of a provider in the environment, which LiteLLM uses."""
    prefix = model.split("/", maxsplit=1)[0].upper().removesuffix("_CHAT")  # "ollama_chat" means Ollama
    return next(filter(None, (os.environ.get(f"{prefix}_{end}", "") for end in ("BASE_URL", "API_BASE"))), "")


def _require_printable(name: str, key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(f"{name} holds characters that a key cannot have: copy the key again")
    return key


def require_model_keys(settings: Settings) -> None:
    """Check that the keys of all hosted models are set. Raises SettingsError: one is missing."""
    for name in settings.models:
        if not is_embedded(name) and not is_object(name):
            key_use(name, settings)

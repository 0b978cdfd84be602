"""Keys of language models: choice of key and address for each model, and checks that keys are set."""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import is_object
from storm_pipeline.settings import ROLES, Settings, is_embedded
from storm_pipeline.text.configuration.variables import model_and_endpoint, provider_of, secret, variable

_NO_KEY = "none"  # self-hosted servers need no key, but client libraries require one


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

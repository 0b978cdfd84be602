"""Keys of language models: which one is sent to which address, and whether those of a run's models are set."""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import is_object
from storm_pipeline.settings import ROLES, Settings, is_embedded
from storm_pipeline.text.configuration.providers import model_and_endpoint, provider_of
from storm_pipeline.text.configuration.variables import secret, variable

_NO_KEY = "none"  # Self-hosted servers need no key, but client libraries demand one


def endpoint_of(name: str, settings: Settings) -> tuple[str, str]:
    """Split a model's name and its endpoint, which is empty for the provider's own."""
    model, base = model_and_endpoint(name)
    return model, base or (settings.api_base or "" if name == settings.lm else "")


@dataclass(frozen=True)
class KeyUse:
    """Which key is sent where."""

    variable: str  # the variable that holds it; empty if none is sent, or the provider's client finds its own
    address: str  # where it goes; empty for the provider's own address
    # its value; None leaves it to the provider's client, which knows its provider's own address alone
    key: str | None = field(repr=False)

    def __str__(self) -> str:
        if not self.variable:
            return "no key is sent" if self.key else "its provider's client finds the key"
        return f"{self.variable} is set, and sent to {self.address or 'the provider alone'}"


def key_use(name: str, settings: Settings) -> KeyUse:
    """Decide which key is sent to a hosted model, and to which address; nothing else decides that.

    ``api_key_env`` is the key of ``lm``, and of other models at the same address; where ``lm`` is embedded, of the
    first model that is not. A provider's usual key goes to the provider, or to the address that the settings give.

    Raises SettingsError: no key is set, or it cannot be one; names the variable.
    """
    model, base = endpoint_of(name, settings)
    address = base or _address_of_the_environment(model)
    if settings.api_key_env and _shares_the_key(name, settings):
        if key := secret(settings.api_key_env):
            return KeyUse(settings.api_key_env, address, _checked(settings.api_key_env, key))
        raise SettingsError(f"no key set for {model}: set {settings.api_key_env}, which --api-key-env names")
    provider, prefix = provider_of(model), model.split("/")[0].upper()
    usual = (provider.key_variable if provider else None) or f"{prefix}_API_KEY"
    if (provider or base) and (key := variable(usual)):
        return KeyUse(usual, address, _checked(usual, key))
    if base:
        return KeyUse("", address, _NO_KEY)
    if provider:
        raise SettingsError(
            f"no key set for {model}: set {provider.variables[0]} in the environment or a file that --env-file "
            "names, or name another variable with --api-key-env"
        )
    return KeyUse("", address, None)


def _shares_the_key(name: str, settings: Settings) -> bool:
    """Return whether a model is where the model is that ``api_key_env`` belongs to."""
    hosted = [one for one in (settings.lm, *map(settings.lm_of, ROLES)) if not is_embedded(one) and not is_object(one)]
    return not hosted or _place(name, settings) == _place(hosted[0], settings)


def _place(name: str, settings: Settings) -> tuple[str, ...]:
    model, base = endpoint_of(name, settings)
    parts = urlsplit(base)
    return (parts.scheme, parts.netloc) if base else (model.split("/")[0],)


def _address_of_the_environment(model: str) -> str:
    """Return the address that the environment gives for a provider, which LiteLLM obeys."""
    prefix = model.split("/", maxsplit=1)[0].upper().removesuffix("_CHAT")  # "ollama_chat" is Ollama
    return next(filter(None, (os.environ.get(f"{prefix}_{end}", "") for end in ("BASE_URL", "API_BASE"))), "")


def _checked(name: str, key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(f"{name} holds characters that a key cannot have: copy the key again")
    return key


def require_model_keys(settings: Settings) -> None:
    """Check that the keys of all hosted models are set. Raises SettingsError: one is missing."""
    for name in settings.models:
        if not is_embedded(name) and not is_object(name):
            key_use(name, settings)

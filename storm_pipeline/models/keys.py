"""Keys of language models, from the environment."""

import os

from storm_pipeline.configuration.providers import provider_of
from storm_pipeline.configuration.setting_types import model_and_endpoint
from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import is_object
from storm_pipeline.settings import ROLES, Settings, is_embedded

_NO_KEY = "none"
"""Self-hosted servers need no key, but client libraries demand one."""


def endpoint_of(name: str, settings: Settings) -> tuple[str, str]:
    """A model's name without its endpoint, and the endpoint; empty for the provider's own."""
    model, base = model_and_endpoint(name)
    return model, base or (settings.api_base or "" if name == settings.lm else "")


def key_for(name: str, settings: Settings) -> str | None:
    """The key to send to a hosted model; None leaves it to the client library, which reads the provider's variable.

    Args:
        name: the model as in the settings, with or without endpoint.
        settings: may name the variable.

    Raises:
        SettingsError: no key is set, or it cannot be one; names the variable.
    """
    model, base = endpoint_of(name, settings)
    if settings.api_key_env:
        if key := os.environ.get(settings.api_key_env, "").strip():
            _check_key(settings.api_key_env, key)
            return key
        raise SettingsError(f"no key set for {model}: set {settings.api_key_env}, which --api-key-env names")
    provider = provider_of(model)
    if provider and (variable := provider.key_variable):
        _check_key(variable, os.environ[variable].strip())
        return None
    if base:
        return None if os.environ.get(f"{model.split('/')[0].upper()}_API_KEY") else _NO_KEY
    if provider:
        raise SettingsError(
            f"no key set for {model}: set {provider.variables[0]} in the environment or in .env, or name another "
            "variable with --api-key-env"
        )
    return None


def _check_key(variable: str, key: str) -> None:
    if not (key.isascii() and key.isprintable()):
        raise SettingsError(f"{variable} holds characters that a key cannot have: copy the key again")


def require_model_keys(settings: Settings) -> None:
    """Check that the keys of all hosted models are set.

    Raises:
        SettingsError: one is missing.
    """
    for name in dict.fromkeys(settings.lm_of(role) for role in ROLES):
        if not is_embedded(name) and not is_object(name):
            key_for(name, settings)

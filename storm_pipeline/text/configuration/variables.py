"""Variables from the environment and a named file, the folders that they name, and the providers with a key in them.

The file's variables never enter the process's environment, which libraries and child processes read.
"""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storm_pipeline.errors import SettingsError
from storm_pipeline.text.files import read_bounded

_APP = "storm-pipeline"
OWN = "STORM_"  # prefix of the package's variables
MOST_OF_A_FILE = 1_000_000  # bytes of a file of settings or variables, at most
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_FOR_CHILDREN = (
    *("PATH", "HOME", "LANG", "LC_", "TZ", "TMPDIR", "TMP", "TEMP", "XDG_", "LD_LIBRARY_PATH", "PYTHONHOME"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    *("PROGRAMDATA", "PROGRAMFILES", "FONTCONFIG_", "TESSDATA_PREFIX"),
)
"""Variables, and prefixes of variables, that child processes need; PYTHONHOME since Python may depend on it."""
_FOR_PIP = (
    *("PIP_", "UV_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NETRC"),
)
_named_secrets: set[str] = set()


@dataclass(frozen=True)
class NamedFiles:
    """The files that the user named on the command line."""

    config: Path | None = None  # settings
    env: Path | None = None  # variables; the environment takes precedence
    variables: Mapping[str, str] = field(default_factory=dict)  # content of ``env``


_named = NamedFiles()


def named_files() -> NamedFiles:
    """Return the files of the last call of :func:`use_files`."""
    return _named


def use_files(config: Path | None = None, env: Path | None = None) -> None:
    """Set the files of settings and variables that the program uses; called once at its start.

    Raises SettingsError: ``env`` cannot be read.
    """
    global _named  # noqa: PLW0603 - as the environment is
    _named = NamedFiles(config, env, _read_env(env) if env else {})


def variable(name: str) -> str:
    """Return a variable, stripped; the environment takes precedence over the file. Empty if it is not set."""
    return os.environ.get(name, "").strip() or _named.variables.get(name, "").strip()


def variables() -> dict[str, str]:
    """Return all variables of the environment and those of the named file."""
    return {**_named.variables, **os.environ}


def child_environment(*, network: bool = False) -> dict[str, str]:
    """Return the environment for a child process: only paths and the locale.

    ``network``: add the user's index, proxy and certificates, with their passwords, for pip.
    """
    known = _FOR_CHILDREN + _FOR_PIP * network
    begins = tuple(name for name in known if name.endswith("_"))
    return {
        name: value
        for name, value in os.environ.items()
        if (name.upper() in known or name.upper().startswith(begins)) and not names_secret(name)
    }


def secret(name: str) -> str:
    """Return a variable that the user named as a key; its value is hidden from messages from then on."""
    _named_secrets.add(name)
    return variable(name)


def names_secret(variable: str) -> bool:
    """Return whether a variable is secret, by a part of its name, as in ``…_KEY_ID``, or since the user named it."""
    parts = variable.upper().replace("-", "_").split("_")
    return variable in _named_secrets or any(part.rstrip("S").endswith(_SECRETS) for part in parts)


def _read_env(file: Path) -> dict[str, str]:
    """Read the variables in a file, without expanding them. Raises SettingsError: it cannot be read."""
    from dotenv import dotenv_values

    try:
        text = read_bounded(file, MOST_OF_A_FILE).decode("utf-8-sig")
        values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    return {name: value for name, value in values.items() if name and value and "\0" not in value}


def default_cache() -> Path:
    """Return ``$STORM_HOME/cache``; without that variable, the platform's folder for a program's cache."""
    from platformdirs import user_cache_path

    home = _home()
    return home / "cache" if home else user_cache_path(_APP, appauthor=False)


def user_configuration() -> Path:
    """Return the path of the user's ``storm.toml``: in ``$STORM_HOME``, else in the platform's configuration folder."""
    from platformdirs import user_config_path

    return (_home() or user_config_path(_APP, appauthor=False)) / "storm.toml"


def server_data() -> Path:
    """Return the folder of servers' records: in ``$STORM_HOME``, else in the platform's folder for a program's data."""
    from platformdirs import user_data_path

    return (_home() or user_data_path(_APP, appauthor=False)) / "servers"


def _home() -> Path | None:
    given = os.environ.get("STORM_HOME", "").strip()
    return Path(given).expanduser() if given else None


@dataclass(frozen=True)
class Provider:
    """A provider of hosted models."""

    name: str  # LiteLLM's name: the part of a model's name before the first slash
    variables: tuple[str, ...]  # environment variables that may hold its key; one is enough
    model: str  # a model of it that writes good articles
    families: tuple[str, ...] = ()  # prefixes of its models' names, for names without a provider

    @property
    def key_variable(self) -> str | None:
        """The variable that holds a key; None if there is none."""
        return next((name for name in self.variables if variable(name)), None)


PROVIDERS = (
    Provider("openai", ("OPENAI_API_KEY",), "openai/gpt-4o", ("gpt-", "chatgpt-", "o1", "o3", "o4")),
    Provider("anthropic", ("ANTHROPIC_API_KEY",), "anthropic/claude-sonnet-4-5", ("claude-",)),
    Provider("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini/gemini-2.5-pro", ("gemini-",)),
    Provider("mistral", ("MISTRAL_API_KEY",), "mistral/mistral-large-latest", ("mistral-", "magistral-", "codestral-")),
    Provider("deepseek", ("DEEPSEEK_API_KEY",), "deepseek/deepseek-chat", ("deepseek-",)),
    Provider("xai", ("XAI_API_KEY",), "xai/grok-4.3", ("grok-",)),
    Provider("cohere", ("COHERE_API_KEY", "CO_API_KEY"), "cohere/command-a-03-2025", ("command-",)),
    Provider("groq", ("GROQ_API_KEY",), "groq/openai/gpt-oss-120b"),
)


def model_and_endpoint(name: str) -> tuple[str, str]:
    """Split a model's name from the address after its ``@``, empty if there is none; some names have an ``@`` too."""
    begins = [place for scheme in ("@http://", "@https://") if (place := name.find(scheme)) >= 0]
    return (name[: min(begins)], name[min(begins) + 1 :]) if begins else (name, "")


def qualify(model: str) -> str:
    """Add the provider to a model's name: ``gpt-4o`` → ``openai/gpt-4o``; unchanged if it has one or none is known.

    The name may end in ``@URL``.
    """
    name, _ = model_and_endpoint(model)
    if "/" in name:
        return model
    known = (provider for provider in PROVIDERS for family in provider.families if _belongs(name, family))
    provider = next(known, None)
    return f"{provider.name}/{model}" if provider else model


def provider_of(model: str) -> Provider | None:
    """Return the provider in a model's name; None if it is not among :data:`PROVIDERS`."""
    return next((provider for provider in PROVIDERS if model.startswith(f"{provider.name}/")), None)


def provider_with_key() -> Provider | None:
    """Return the first provider whose main variable is set; its other variables may hold another service's key."""
    return next((provider for provider in PROVIDERS if variable(provider.variables[0])), None)


def _belongs(name: str, family: str) -> bool:
    rest = name[len(family) :]
    return name.startswith(family) and (family.endswith("-") or rest[:1] in {"", "-"})

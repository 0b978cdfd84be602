"""Providers of language models: the variable of each one's key, and which provider a bare model name belongs to."""

from dataclasses import dataclass

from storm_pipeline.text.configuration.variables import variable


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


def qualified(model: str) -> str:
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

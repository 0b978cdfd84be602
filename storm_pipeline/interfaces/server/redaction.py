"""Removal of secrets and folder paths from texts that leave the server."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.text.configuration.addresses import redact, redaction
from storm_pipeline.text.configuration.variables import model_and_endpoint
from storm_pipeline.types import Article


def plain_name(name: str) -> str:
    """Return the name of a model or an engine without an address or a path."""
    name, _ = model_and_endpoint(name)
    kind, _, argument = name.partition(":")
    return kind if any(sign in argument for sign in "/\\~") else name


class Redactor:
    """Remover of secrets (``redact``) and paths from texts; paths below a folder become relative."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        paths = {text for folder in folders for text in (str(folder.absolute()), str(folder.resolve()))}
        self._folders = sorted((path for path in paths if path != "/"), key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text without secrets and folders."""
        return self._text(text, redact)

    def values(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record, such as an event, with every text redacted, including nested ones and names."""
        hidden: dict[str, Any] = self._value(record, redaction())
        return hidden

    def numbered(self, records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield numbered records as :meth:`values` returns them; the variables are read once, for the first."""
        hide = None
        for number, record in records:
            hide = hide or redaction()
            yield number, self._value(record, hide)

    def _text(self, text: str, hide: Callable[[str], str]) -> str:
        text = hide(text)
        for folder in self._folders:
            text = text.replace(f"{folder}/", "").replace(folder, ".")
        return text

    def _value(self, value: Any, hide: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return self._text(value, hide)
        if isinstance(value, Mapping):
            return {self._value(name, hide): self._value(inner, hide) for name, inner in value.items()}
        return [self._value(element, hide) for element in value] if isinstance(value, list | tuple) else value

    def article(self, article: Article) -> Article:
        """Return the article with redacted problems in its report, since they quote errors of services."""
        problems = tuple(replace(problem, detail=self.text(problem.detail)) for problem in article.report.problems)
        return replace(article, report=replace(article.report, problems=problems))

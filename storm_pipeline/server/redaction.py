"""What is kept out of texts that leave the server: secrets of the environment, and where its folders are."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.configuration.addresses import HIDDEN, redacted
from storm_pipeline.types import Article

_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?$", re.I)
"""Names of environment variables that hold secrets."""
_SHORTEST = 6
"""Minimum characters of a secret; shorter values also occur in ordinary words."""


class Redactor:
    """Removes secrets and paths from texts.

    It hides the values of environment variables whose names end with KEY, TOKEN, SECRET, PASSWORD or CREDENTIALS, and
    passwords and keys in addresses. Paths below a folder are shortened to what is below it.

    Args:
        folders: the server's folders.
        environment: variables; by default those of the process.
    """

    def __init__(self, folders: Iterable[Path] = (), environment: Mapping[str, str] | None = None) -> None:
        variables = os.environ if environment is None else environment
        secrets = {value for name, value in variables.items() if _SECRET.search(name) and len(value) >= _SHORTEST}
        self._secrets = sorted(secrets, key=len, reverse=True)
        paths = {text for folder in folders for text in (str(folder.absolute()), str(folder.resolve()))}
        self._folders = sorted((path for path in paths if path != "/"), key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without secrets and folders."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = redacted(text)
        for folder in self._folders:
            text = text.replace(f"{folder}/", "").replace(folder, ".")
        return text

    def values(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A flat record, such as an event, with every text in it redacted."""
        return {name: self.text(value) if isinstance(value, str) else value for name, value in record.items()}

    def article(self, article: Article) -> Article:
        """The article with its report's problems redacted, which quote the errors of services."""
        problems = tuple(replace(one, detail=self.text(one.detail)) for one in article.report.problems)
        return replace(article, report=replace(article.report, problems=problems))

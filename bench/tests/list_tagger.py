"""A tagger that needs no model."""

from collections.abc import Iterable, Sequence

from storm_pipeline.text.words import folded_words


class ListTagger:
    """Finds the names of a list, for tests: needs no model and is deterministic.

    Args:
        names: the names, in any case.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.name = "list"
        self._names = {name: f" {' '.join(folded_words(name))} " for name in (n.lower() for n in names)}

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The listed names that occur in each text as whole words."""
        folded = (f" {' '.join(folded_words(text))} " for text in texts)
        return [frozenset(name for name, form in self._names.items() if form in text) for text in folded]

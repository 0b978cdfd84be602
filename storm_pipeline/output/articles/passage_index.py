"""Finds the passages of a page that share most words with a sentence, without comparing it with every passage."""

from collections.abc import Sequence

from storm_pipeline.text.index_terms import terms


class PassageIndex:
    """Index of one page's passages by their content words, since very many sentences of an article may cite it."""

    def __init__(self, passages: Sequence[str]) -> None:
        import numpy as np

        self._passages = passages
        self._numbers: dict[str, int] = {}  # of words, in the order in which they come
        pairs = [
            (self._numbers.setdefault(word, len(self._numbers)), place)
            for place, passage in enumerate(passages)
            for word in dict.fromkeys(terms(passage))
        ]
        table = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        words, places = table[np.argsort(table[:, 0], kind="stable")].T
        ends = np.searchsorted(words, np.arange(1, len(self._numbers)))
        self._places = np.split(places, ends)  # those of the passages that have a word, by its number

    def best(self, wanted: frozenset[str], most: int) -> list[str]:
        """Return at most ``most`` passages, those with most of the words first; of equals, the first one."""
        import numpy as np

        found = [self._places[self._numbers[word]] for word in self._numbers.keys() & wanted]
        if not found:
            return list(self._passages[:most])
        shared, best = np.bincount(np.concatenate(found), minlength=len(self._passages)), []
        for _ in range(min(most, len(self._passages))):
            best.append(int(shared.argmax()))
            shared[best[-1]] = -1
        return [self._passages[place] for place in best]

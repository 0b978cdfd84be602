"""Shows a sentence once, however many pages and windows have it: agency texts, blurbs, notices. Pure functions."""

import re
from collections import Counter

from storm_pipeline.text.words import folded_words

_STOP = re.compile(r"(?<=[.!?…。！？])\s+")
_SHORTEST, _SHORTEST_ON_SITE = 6, 2  # minimum words of a sentence that is shown once, and once for each site
_REST = 8  # minimum words that are shown of a text whose other sentences were shown before


class Told:
    """The sentences of the texts that were read so far, which are those that a prompt shows before the next one."""

    def __init__(self) -> None:
        self._holders: dict[str, int] = {}

    def rest_of(self, text: str, site: str, number: int) -> tuple[str, int]:
        """What of a text no earlier one shows, and its number; if that is hardly anything, nothing and another number.

        Args:
            text: on one line.
            site: of its page; sentences of two to five words, such as "Add to basket.", are compared within a site.
            number: of this text; returned instead is that of the earlier text that shows most of its sentences.
        """
        sentences = _STOP.split(text)
        words = [folded_words(sentence) for sentence in sentences]
        keys = [" ".join(own if len(own) >= _SHORTEST else (site, *own)) for own in words]
        holders = [
            self._holders.setdefault(key, number) if len(own) >= _SHORTEST_ON_SITE else number
            for key, own in zip(keys, words, strict=True)
        ]
        first = [keys.index(key) for key in keys]
        rest = [i for i, holder in enumerate(holders) if holder == number and (first[i] == i or len(words[i]) < 2)]
        told = Counter(holder for holder in holders if holder != number)
        if told and sum(len(words[i]) for i in rest) < _REST:
            return "", told.most_common(1)[0][0]
        return " ".join(sentences[i] for i in rest), number

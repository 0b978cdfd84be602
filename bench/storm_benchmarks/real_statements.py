"""Statements of real articles that a passage of a page says too, with the passage: what errors are planted in.

They are those of Wiki Live Challenge: sentences of Wikipedia's articles, with any page that a research system cited for
the topic, copies of the article left out; and the systems' statements with the pages that they cite. A passage counts
as support where it has nine tenths of the content words, and all figures.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from storm_bench.datasets.leakage import without_copies
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.planting import Supported
from storm_bench.types import Topic
from storm_pipeline.documents.chunks import chunks
from storm_pipeline.languages import split_sentences, stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.text.words import longest_common_run, word_count

_PASSAGE = 150  # words, as of the passages that ``storm check`` shows a judge
_SHARED = 0.9  # least share of the stems
_WORDS = range(8, 46)  # of a statement
_FEWEST = 5  # stems of a statement
_COPIED = 0.8  # a passage with a longer run of the words is taken for a copy
_TRIED = 5  # passages


def supported_statements(folder: Path) -> list[Supported]:
    """The statements of the topics of a folder that are supported so, each with its best passage, in a drawn order.

    Raises DatasetError: there are no topics.
    """
    topics = map(without_copies, read_wiki_live(folder).topics)
    found = list(dict.fromkeys(one for topic in topics for one in _of_topic(topic)))
    return random.Random(0).sample(found, len(found))


def _of_topic(topic: Topic) -> Iterator[Supported]:
    passages = [(document.url, text) for document in topic.documents for text in chunks(document.text, _PASSAGE)]
    having: dict[str, list[int]] = {}
    for i, (_, text) in enumerate(passages):
        for stem in stem_set(text):
            having.setdefault(stem, []).append(i)
    for statement, urls in _statements(topic):
        wanted = stem_set(statement)
        shared = Counter(i for stem in wanted for i in having.get(stem, ()) if not urls or passages[i][0] in urls)
        best = [passages[i][1] for i, number in shared.most_common(_TRIED) if number >= _SHARED * len(wanted)]
        if len(wanted) >= _FEWEST and (said := next((one for one in best if _says(one, statement)), None)):
            yield Supported(statement, said)


def _says(passage: str, statement: str) -> bool:
    copied = len(longest_common_run(statement, passage)) > _COPIED * word_count(statement)
    return not copied and not missing(statement, [passage])


def _statements(topic: Topic) -> Iterator[tuple[str, Sequence[str]]]:
    """Each with the pages that it cites; none: any page."""
    for block in topic.human.text().split("\n"):
        yield from ((sentence, ()) for sentence in split_sentences(block, "en") if _is_usable(sentence))
    for article in topic.system_articles:
        yield from ((one.text, one.urls) for one in article.statements if one.urls and _is_usable(one.text))


def _is_usable(text: str) -> bool:
    return word_count(text) in _WORDS and text.endswith(".") and text[:1].isupper()

"""A run whose model writes its citations in other forms makes the article that it makes of ``[n]``."""

import itertools
import re
import threading
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from citation_forms import FORMS, Form
from llm import Answer, FakeModel, default_answers
from test_pipeline import storm

from storm_pipeline import Article, Snippet
from storm_pipeline.sources.search.fake import FakeSearch

CITING = ("AnswerFromPassages", "WriteSection", "WriteLead")
TOWNS = "Samarkand Bukhara Kashgar Antioch Merv Palmyra Dunhuang Tyre Aleppo Balkh Herat Khotan".split()


def found(query: str) -> Sequence[Snippet]:
    start = zlib.crc32(query.encode())
    numbers = {(start + 7 * place) % 24 for place in range(6)}
    return [
        Snippet(
            f"https://a{n}.example/{n}",
            f"Page {n} of {TOWNS[n % 12]}",
            f"The early history of the Silk Road at {TOWNS[n % 12]} began when riders came there {n + 100} years ago. "
            f"Among the goods of the Silk Road glass from {TOWNS[n % 12]} paid {n + 310} dirhams of toll there.",
        )
        for n in sorted(numbers)
    ]


def question(user: str) -> str:
    """A function of the prompt alone, so that runs differ in the forms only."""
    editor = zlib.crc32("".join(re.findall(r"Perspective: (.+)", user)[-1:]).encode())
    return f"What is known about aspect {(editor + 3 * user.count('Expert:')) % 7} of the Silk Road?"


def written(folder: Path, forms: Sequence[Form]) -> tuple[Article, set[int]]:
    """An article whose model takes another form for each reply, and the places of the forms that it took."""
    turn, lock = itertools.count(), threading.Lock()
    taken: set[int] = set()

    def in_form(answer: Callable[[str], str]) -> Answer:
        def answered(user: str) -> str:
            with lock:
                place = next(turn) % len(forms)
                taken.add(place)
            return forms[place](answer(user))

        return answered

    answers = default_answers()
    cited = {name: in_form(own) for name in CITING if callable(own := answers[name])}
    with FakeModel({**cited, "AskQuestion": question}) as server:
        writer = storm(server, folder, search=FakeSearch(found), perspectives=3, related_topics=0)
        article = writer.write("Silk Road")
    return article, taken


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Article:
    return written(tmp_path_factory.mktemp("plain"), [str])[0]


@pytest.mark.parametrize("first", range(0, len(FORMS), 14))
def test_the_article_is_the_same_in_every_form(plain: Article, tmp_path: Path, first: int) -> None:
    forms = list(FORMS.values())[first : first + 14]
    article, taken = written(tmp_path, forms)
    assert taken == set(range(len(forms)))
    assert article.to_markdown() == plain.to_markdown()
    assert article.report == plain.report
    assert sum(1 for one in article.sentences() if one.citations) > 12

"""A language model for tests that also judges: :class:`llm.FakeModel` with the judges' signatures."""

import json
import re
from collections.abc import Callable, Mapping

import llm
from servers import Reply

from storm_bench.signatures import judging


class FakeModel(llm.FakeModel):
    """Serves ``/v1/chat/completions``; see :class:`llm.FakeModel`."""

    def __init__(
        self, answers: Mapping[str, llm.Answer] | None = None, faults: Mapping[str, list[Reply]] | None = None
    ) -> None:
        super().__init__(answers, faults, llm.signatures_of(judging))


def compared(user: str, better: Callable[[str, str, str], str]) -> str:
    """A judge's reply on two articles: which is better, by their texts and a criterion."""
    texts = re.search(r"Article a:(.*?)\nArticle b:(.*?)\nCriteria:", user, re.S)
    assert texts
    criteria = re.findall(r"^(\d+)\. (.+)$", user.rsplit("Criteria:\n", maxsplit=1)[-1], re.M)
    verdicts = [
        {"criterion": int(number), "reason": "It is so.", "better": better(texts[1].strip(), texts[2].strip(), text)}
        for number, text in criteria
    ]
    return json.dumps({"verdicts": verdicts})

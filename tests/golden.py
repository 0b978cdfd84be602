"""Records what every recipe asks and writes, so that a move of code can be shown to change neither.

    PYTHONPATH=tests/integration python tests/golden.py FOLDER

Run it before and after the move, then compare with `diff -r`.

Every recipe runs against the model of the tests, whose replies here follow from the request
alone and hold what the program must deal with: copied sentences, unsupported ones, invented numbers, subheadings.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from found_pages import world
from llm import FACT, Answer, FakeModel, from_facts
from test_pipeline import NoContents

from storm_pipeline import Article, Storm
from storm_pipeline.recipes import RECIPES
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.search.fake import FakeSearch


def main(folder: Path) -> None:
    """Write ``folder/<recipe>.json`` for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for recipe in sorted(RECIPES):
        text = json.dumps(_recorded(recipe), indent=1, ensure_ascii=False, sort_keys=True)
        (folder / f"{recipe}.json").write_text(text + "\n", encoding="utf-8")


def _recorded(recipe: str) -> dict[str, Any]:
    """Requests (in an order that does not depend on threads), searches, and the article with its report."""
    queries: list[str] = []

    def search(query: str) -> Any:
        queries.append(query)
        return world(query)

    with tempfile.TemporaryDirectory() as place, FakeModel(_answers()) as server:
        storm = Storm(
            lm=server.lm,
            search=FakeSearch(search),  # type: ignore[arg-type]
            embedder=HashingEmbedder(),
            contents=NoContents(),
            perspectives=2,
            turns=3,
            out=Path(place) / "runs",
            cache=Path(place) / "cache",
        )
        article: Article = storm.write("Silk Road", recipe)
    sampling = ("temperature", "top_p", "max_tokens", "response_format")
    asked = [{"messages": one.messages, **{name: one.body.get(name) for name in sampling}} for one in server.asked]
    told = json.loads(article.to_json())["article"]
    told.pop("usage")
    return {
        "requests": sorted(asked, key=lambda one: json.dumps(one, sort_keys=True)),
        "queries": sorted(queries),
        "article": told,
        "markdown": article.to_markdown(),
        "usage": [(row.stage, row.role, row.calls, row.tokens_in, row.tokens_out) for row in article.usage.rows],
    }


def _answers() -> dict[str, Answer]:
    return {
        "AskQuestion": lambda user: f"What is known about aspect {_number(user)} of Silk Road?",
        "WriteSection": lambda user: f"{from_facts(user, 5)}{_faults(user)}\n## Early history\n{from_facts(user, 7)}",
        "WriteArticle": lambda user: f"{from_facts(user, 2)}\n## History\n{from_facts(user, 6)}{_faults(user)}",
    }


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) % 1000


def _faults(user: str) -> str:
    """A copy of a shown fact, a sentence that nothing supports, and a number that was not shown."""
    facts = FACT.findall(user)[-50:]
    copied = " ".join(f"{text.rstrip('.')} [{number}]." for number, _, text in facts[-2:])
    return f" {copied} Penguins compose symphonies in Antarctica [1]. Glass travelled by 4711 unnamed ships [99]."


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A run whose sources differ: the writer is told, tells both, and the article records it."""

from pathlib import Path

from llm import FakeModel, default_answers
from test_pipeline import storm

from storm_pipeline import Snippet
from storm_pipeline.search.fake import FakeSearch

FOUND = [
    Snippet("https://a.org/1", "Silk Road vote", "To admit the motion on the Silk Road, Congress needed 46 votes."),
    Snippet("https://b.org/1", "Silk Road news", "Congress needed 52 votes to admit the motion on the Silk Road."),
]


def test_sources_that_differ_are_told_as_such(tmp_path: Path) -> None:
    def numbers(user: str) -> tuple[str, str]:
        """The passages of 46 and of 52 votes, which stand in either order."""
        lines = {line[:3]: line for line in user.splitlines() if line[:3] in ("[1]", "[2]")}
        first, second = sorted(lines, key=lambda number: "46 votes" not in lines[number])
        return first, second

    def writer(user: str) -> str:
        few, many = numbers(user)
        if "\nRemarks:" in user:
            return f"1: To admit the motion, 46 votes were needed by Congress {few} or, by other news, 52 votes {many}."
        return f"By Congress 46 votes were needed to admit the motion on the Silk Road {few}."

    with FakeModel(default_answers() | {"WriteSection": writer}) as server:
        article = storm(server, tmp_path, search=FakeSearch(lambda _: FOUND)).write("Silk Road")
        first, second, *_ = server.of("WriteSection")
    few, many = numbers(first.prompt)
    assert f"- {few} “46 votes”; {many} “52 votes”" in first.prompt or f"- {many} “52 votes”; {few}" in first.prompt
    assert "“52 votes” differ from it" in "".join(one.prompt for one in server.of("WriteSection"))
    assert second is not first
    (found,) = article.disagreements
    assert sorted((side.says, side.independent) for side in found.sides) == [("46 votes", 1), ("52 votes", 1)]
    assert found.told
    assert "Where its sources differ" in article.to_html()

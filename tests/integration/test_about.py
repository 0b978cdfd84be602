"""What the user says about a topic reaches research, outline and writers, and changes nothing where it is not said."""

from pathlib import Path

import pytest
from test_recipes import written

ABOUT = "the trade routes,\nnot the market site"


@pytest.mark.parametrize("recipe", ["storm", "rag"])
def test_models_are_told_what_the_topic_is(tmp_path: Path, recipe: str) -> None:
    article, server, _ = written(recipe, tmp_path, writing="whole", about=ABOUT)
    told = {
        asked.signature for asked in server.asked if "Silk Road (the trade routes, not the market site)" in asked.user
    }
    expected = {
        "rag": {"WriteArticle"},
        "storm": {
            "FindPerspectives",
            "AskQuestion",
            "WriteQueries",
            "AnswerFromPassages",
            "RefineOutline",
            "WriteSection",
        },
    }
    assert expected[recipe] <= told
    assert article.title == "Silk Road"


def test_without_it_prompts_are_as_they_were(tmp_path: Path) -> None:
    _, server, _ = written("rag", tmp_path, writing="whole")
    assert all("Silk Road (" not in asked.user for asked in server.asked)

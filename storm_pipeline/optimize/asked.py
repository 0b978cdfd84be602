"""Which programs a recipe asks with which writer: compiling another one changes nothing in its articles."""

from collections.abc import Mapping

_RESEARCH = "related perspectives question queries"
_ASKED: Mapping[str, tuple[str, str]] = {
    "storm": (f"{_RESEARCH} passage_answer draft refine place section lead edit", f"{_RESEARCH} draft refine heading"),
    "storm-iterative": (
        f"{_RESEARCH} open_questions passage_answer draft refine place section revise lead edit",
        f"{_RESEARCH} draft heading",
    ),
    "storm-no-perspective": (
        "plain_question queries passage_answer draft refine place section lead edit",
        "plain_question queries draft refine heading",
    ),
    "storm-no-conversation": (
        "related perspectives questions queries passage_answer draft refine place section lead edit",
        "related perspectives questions queries draft refine heading",
    ),
    "storm-no-outline": (f"{_RESEARCH} passage_answer article", f"{_RESEARCH} heading"),
    "direct": ("draft memory", "draft memory"),
    "rag": ("article", "heading"),
    "orag": ("plan section", "plan heading"),
    "rr": ("article", "heading"),
    "rr-no-documents": ("memory", "memory"),
    "rprr": ("plan section", "plan heading"),
}
ASKED = {recipe: tuple(frozenset(own.split()) for own in both) for recipe, both in _ASKED.items()}
"""Recipe → the programs that it asks with a writer of whole sections (capable models), and with the writer of single
sentences (small models)."""


def recipes_that_ask(program: str, writer: int) -> list[str]:
    """The recipes that ask a program.

    ``writer``: 0 for the writer of whole sections, 1 for that of single sentences.
    """
    return [recipe for recipe, both in ASKED.items() if program in both[writer]]

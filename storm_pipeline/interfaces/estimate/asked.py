"""Which programs a recipe asks: compiling another one changes nothing in its articles."""

from storm_pipeline.text.files import table_beside

ASKED = {recipe: frozenset(own["asked"].split()) for recipe, own in table_beside(__file__).items()}
"""Recipe → the programs that it asks."""


def recipes_that_ask(program: str) -> list[str]:
    """The recipes that ask a program; in place of names, when all ask the judge, and the writer about its doubts."""
    if program in {"check", "remarks"}:
        return [f"all with sources{', unless --judge off' if program == 'check' else ''}"]
    return [recipe for recipe, asked in ASKED.items() if program in asked]

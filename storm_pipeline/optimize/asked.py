"""Which programs a recipe asks with which writer: compiling another one changes nothing in its articles."""

from storm_pipeline.files import table_beside

ASKED = {
    recipe: (frozenset(own["whole"].split()), frozenset(own["single"].split()))
    for recipe, own in table_beside(__file__).items()
}
"""Recipe → the programs that it asks with a writer of whole sections (capable models), and with the writer of single
sentences (small models)."""


def recipes_that_ask(program: str, writer: int) -> list[str]:
    """The recipes that ask a program; in place of names, in which cases all ask the judge.

    ``writer``: 0 for the writer of whole sections, 1 for that of single sentences.
    """
    if program == "check":
        return [] if writer else ["all with sources, unless --judge off"]
    return [recipe for recipe, both in ASKED.items() if program in both[writer]]

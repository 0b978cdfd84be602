"""Worked examples: small models follow a form that they have seen far better than one that they are told.

All about one invented place, so that no fact of them can leak into a real article unnoticed. Headings that name it are
dropped from outlines of other topics (:func:`names_invented`).
"""

import dspy

from storm_pipeline.signatures.shapes import Editor, OutlineSection

_INVENTED = ("lake orrin", "orrin dam", "orrin line")


def names_invented(text: str) -> bool:
    """Whether a text names the examples' invented lake, dam or railway, as copies of them by a small model do."""
    return any(name in text.casefold() for name in _INVENTED)


RELATED = [
    dspy.Example(
        topic="Orrin Dam",
        related_topics=[
            "Gravity dam",
            "Hydroelectricity",
            "Environmental effects of dams",
            "Lake Orrin",
            "Fish ladder",
        ],
    )
]

PERSPECTIVES = [
    dspy.Example(
        topic="Orrin Dam",
        related_contents="Gravity dam: Design; Construction; Earthquakes",
        number=3,
        editors=[
            Editor(name="Civil engineer", focus="How the dam was designed and built, and how it is kept safe."),
            Editor(name="Local historian", focus="The decision to build it, and the families who had to move."),
            Editor(name="Freshwater ecologist", focus="What the dam did to fish, shores and water quality."),
        ],
    )
]

QUESTION = [
    dspy.Example(
        topic="Orrin Dam",
        perspective="Local historian. The decision to build it, and the families who had to move.",
        conversation="Writer: Why was the Orrin Dam built?\n"
        "Expert: It was to supply the capital with electricity, and was finished in 1936 after five years of work.\n"
        "Writer: Who lost land to the Orrin Dam?\nExpert: Some 400 families had to give up their farms, and most of them moved to Selby.\n"
        "Writer: What became of Selby when they came?\n"
        "Expert: The town built two new streets and a school for them, and had doubled in size by 1940.",
        question="What were the families of the flooded farms paid for the land that they lost to the Orrin Dam?",
    ),
]

PLAIN_QUESTION = [one.without("perspective") for one in QUESTION]
"""The same interview by a writer without a perspective."""

QUERIES = [
    dspy.Example(
        topic="Orrin Dam",
        question="How did the building of the Orrin Dam affect the farmers of the valley and the fish of the lake?",
        number=3,
        queries=["Orrin Dam displaced farmers", "Orrin Dam effects on fish"],
    )
]

DRAFT = [
    dspy.Example(
        topic="Lake Orrin",
        wanted="five to seven sections",
        sections=[
            OutlineSection(title="Geography", subsections=["Formation"]),
            OutlineSection(title="Early settlement", subsections=[]),
            OutlineSection(title="Orrin Dam", subsections=["Construction", "Consequences"]),
            OutlineSection(title="Ecology", subsections=[]),
            OutlineSection(title="Fishing and tourism", subsections=[]),
        ],
    )
]

_OF_SOURCES = [
    OutlineSection(title="Geography", subsections=[]),
    OutlineSection(title="Early settlement", subsections=[]),
    OutlineSection(title="Orrin Dam", subsections=["Construction", "Displaced families"]),
    OutlineSection(title="Fish", subsections=[]),
    OutlineSection(title="Economy", subsections=[]),
]
"""The outline of both examples that are given sources, so that no method is shown a better one."""

REFINE = [
    dspy.Example(
        topic="Lake Orrin",
        wanted="five to seven sections",
        sources="Lake Orrin; Orrin Dam; Char; Selby",
        interviews="Writer: Who lost land to the Orrin Dam?\nExpert: Some 400 families had to give up their farms.\n"
        "Writer: What became of the fish of Lake Orrin?\nExpert: Char could no longer reach the streams in which they spawn.",
        draft="# Geography\n# History\n## Early settlement\n# Ecology\n# Economy\n# Culture",
        sections=_OF_SOURCES,
    )
]

PLAN = [
    dspy.Example(
        topic="Lake Orrin",
        wanted="five to seven sections",
        sources="""[1] Lake Orrin: A glacier left the lake behind some 11,000 years ago.
[2] Selby: The first houses on the shore were built by charcoal burners about 1640.
[3] Orrin Dam: The dam at the lake's southern end was built between 1931 and 1936.
[4] Orrin Dam: About 400 families lost their farms when the water rose.
[5] Char: The char of the lake were cut off from their spawning streams by the dam.
[6] Orrin Line: Boats carried slate across the lake to the railway until 1961.""",
        sections=_OF_SOURCES,
    )
]

HEADING = [
    dspy.Example(
        topic="Lake Orrin",
        sentences="In most winters the lake is under ice from December on.\nFog lies over it on one morning in three.",
        heading="Climate",
    ),
    dspy.Example(
        topic="Orrin Line",
        sentences="The trains carried slate from the quarries to the port.\nMilk and mail travelled with them.",
        heading="Goods carried",
    ),
    dspy.Example(
        topic="Char",
        sentences="Dams keep the fish from the streams in which they spawn.\nNets with narrow meshes take the young.",
        heading="Causes of decline",
    ),
]

"""Worked examples: small models follow a form that they have seen far better than one that they are told.

All about one invented place, so that no fact of them can leak into a real article unnoticed.
"""

import dspy

from signatures.shapes import Editor

_FACTS = """[1] Lake Orrin: Lake Orrin is a freshwater lake in the north of Valmere, formed by a glacier about 11,000 years ago.
[2] Lake Orrin: It covers 84 square kilometres and is 61 metres deep at its deepest point.
[3] Orrin Dam: The dam at the lake's southern end was built between 1931 and 1936 to supply the capital with electricity.
[4] Valmere cuisine: Smoked char is eaten at weddings in the whole of the country.
[5] Orrin Dam: About 400 families lost their farms when the water rose, and most of them moved to the town of Selby.
[6] Char: The char of the lake were cut off from their spawning streams by the dam.
[7] Orrin Dam: A fish ladder was added in 1988."""

_LINE_FACTS = """[1] Orrin Line: Surveyors of the Northern Company chose the route of the railway in 1869.
[2] Orrin Line: Work stopped for three years after floods carried away two bridges in 1873.
[3] Selby: The town of Selby had 2,100 inhabitants in 1870 and 9,400 in 1890.
[4] Orrin Line: The first train ran from the capital to Selby on 4 May 1879.
[5] Selby: Selby holds a cheese market every autumn.
[6] Orrin Line: Freight, mostly timber and slate, paid for four fifths of the line's costs until 1914."""

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

QUERIES = [
    dspy.Example(
        topic="Orrin Dam",
        question="How did the building of the Orrin Dam affect the farmers of the valley and the fish of the lake?",
        queries=["Orrin Dam displaced farmers", "Orrin Dam effects on fish"],
    )
]

ANSWER = [
    dspy.Example(
        topic="Orrin Dam",
        question="What did the Orrin Dam change for people and animals around the lake?",
        facts=_FACTS,
        answer="Some 400 families had to give up their farms to the rising water, and Selby became the new home of most of them [5]. "
        "Because the dam barred the way to the streams in which char spawn, a fish ladder was built in 1988 [6][7].",
    )
]

DRAFT = [
    dspy.Example(
        topic="Lake Orrin",
        outline="# Geography\n# Early settlement\n# Orrin Dam\n## Construction\n## Consequences\n# Ecology\n# Fishing and tourism",
    )
]

REFINE = [
    dspy.Example(
        topic="Lake Orrin",
        interviews="Writer: Who lost land to the Orrin Dam?\nExpert: Some 400 families had to give up their farms.\n"
        "Writer: What became of the fish of Lake Orrin?\nExpert: Char could no longer reach the streams in which they spawn.",
        draft="# Geography\n# History\n## Early settlement\n# Ecology\n# Economy\n# Culture",
        outline="# Geography\n# Early settlement\n# Orrin Dam\n## Construction\n## Displaced families\n# Fish\n# Economy",
    )
]

SECTION = [
    dspy.Example(
        article="Lake Orrin",
        outline="Geography; Orrin Dam; Culture",
        section="Orrin Dam",
        words=80,
        facts=_FACTS,
        text="To bring electric power to the capital, engineers closed off the south of the lake with a dam, which took from 1931 to "
        "1936 to complete [3]. Some 400 families had to give up their land to the rising water; Selby became the new home of most of "
        "them [5]. Char could no longer reach the streams in which they spawn, and only in 1988 did a ladder open a way for the "
        "fish [6][7].",
    ),
    dspy.Example(
        article="Railways of Valmere",
        outline="Early plans; Orrin Line; Rolling stock; Decline",
        section="Orrin Line\nSubheadings: Construction; Traffic",
        words=90,
        facts=_LINE_FACTS,
        text="## Construction\nThe Northern Company settled on a route for its railway in 1869 [1]. Building it took a decade: floods swept "
        "two bridges away in 1873, and the site then lay idle for three years [2]. Passengers could travel between the capital and Selby "
        "from 4 May 1879 onwards [4].\n## Traffic\nUp to 1914 it was goods rather than passengers that kept the line solvent, with slate and "
        "timber bearing some 80 per cent of its costs [6]. Along its course Selby grew more than fourfold between 1870 and 1890 [3].",
    ),
]

LEAD = [
    dspy.Example(
        topic="Lake Orrin",
        article="# Geography\nA glacier left the lake behind some 11,000 years ago. Its waters reach a depth of 61 metres.\n# Orrin Dam\n"
        "Between 1931 and 1936 the south of the lake was closed off with a dam to bring electric power to the capital. Some 400 families had "
        "to give up their land. A fish ladder followed in 1988.",
        lead="Lake Orrin is a lake of glacial origin, some 11,000 years old and up to 61 metres deep. A dam that supplies the capital with "
        "electricity closed off its southern end in 1936, at the cost of the land of about 400 families. Since 1988 a fish ladder has led around it.",
    )
]

REPEATED = [
    dspy.Example(
        pairs="1. Work on the dam began in 1931. / The dam was begun in 1931.\n"
        "2. The lake is 61 metres deep. / The lake is 61 metres deep and freezes in most winters.",
        repeated=[1],
    )
]

REWORD = [
    dspy.Example(
        about="Orrin Dam",
        sentence="About 400 families lost their farms when the water rose, and most of them moved to the town of Selby.",
        reworded="The rising water cost some 400 families their farms, and Selby became the new home of most of them.",
    ),
    dspy.Example(
        about="Orrin Line",
        sentence="It connected the capital with the slate quarries of Selby, in the north of Valmere, between 1879 and 1961.",
        reworded="From 1879 to 1961, trains of the Orrin Line ran between the capital and Selby, a town of slate quarries in the north of Valmere.",
    ),
]

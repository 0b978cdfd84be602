"""Assigns interview findings to sections with the outliner model.

Sentence encoders cannot tell well whether a review of a show belongs under "Reception" or "Runway show"; a capable
model reads the whole outline and all findings at once. Findings that it does not place are assigned by embedding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storm_pipeline.errors import ModelError
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Heading, Outline, Sentence

_MOST_LEFT_OUT = 0.5
"""Maximum share of the findings that may repeat others; a model that names more of them is not believed."""


@dataclass(frozen=True)
class Placement:
    """Where findings belong; those it lacks are not placed."""

    # text of a finding → title of the section that it is assigned to
    sections: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()  # texts of the findings that say nothing that another one does not say


def place_findings(ctx: RunContext, outline: Outline, findings: Sequence[Sentence], draft: str = "") -> Placement:
    """The outliner's placement of the findings; empty if the model fails, which is recorded.

    If a finding is placed several times, the first place counts. With a single section, the model is not called.
    """
    if not findings or len(outline.sections) < 2:
        return Placement()
    try:
        places = ctx.ask(
            "outliner",
            ctx.programs.place,
            topic=outline.topic,
            outline="\n".join(f"{n}. {_with_subheadings(own)}" for n, own in enumerate(outline.sections, 1)),
            article=draft,
            findings="\n".join(f"[{n}] {finding.text}" for n, finding in enumerate(findings, 1)),
        ).places
    except ModelError as error:
        ctx.events.degraded(f"findings were placed in sections by likeness alone: {error}")
        return Placement()
    placed: dict[str, str | None] = {}
    for place in places:
        if 0 <= place.section <= len(outline.sections):
            title = outline.sections[place.section - 1].title if place.section else None
            for number in place.findings:
                if 1 <= number <= len(findings):
                    placed.setdefault(findings[number - 1].text, title)
    sections = {text: title for text, title in placed.items() if title is not None}
    left_out = placed.keys() - sections.keys()
    believed = draft or len(left_out) <= _MOST_LEFT_OUT * len(findings)
    return Placement(sections, frozenset(left_out if believed else ()))


def _with_subheadings(heading: Heading) -> str:
    below = [title for title in heading.titles() if title != heading.title]
    return heading.title + (f" ({'; '.join(below)})" if below else "")

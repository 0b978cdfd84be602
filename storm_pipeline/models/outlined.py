"""Outline-enhanced generation (FoRAG, 4.1): a text is outlined, then written along its outline."""

from collections.abc import Sequence
from typing import Any

import dspy

from storm_pipeline.signatures.answers import FOLLOW_PLAN, OutlineText
from storm_pipeline.signatures.shapes import Point


class Outlined(dspy.Module):
    """A program of two calls in place of a signature's one; its prediction also has ``pattern`` and ``points``.

    Departures from appendix A: two calls instead of one; a point may name several passages; the text cites them.
    ``demos``: worked examples of the signature, which have no plan.
    """

    def __init__(self, signature: type[dspy.Signature], demos: Sequence[dspy.Example] = ()) -> None:
        super().__init__()
        what = str(signature.instructions).partition(".")[0]
        told = f"{OutlineText.instructions}\n\nThe text will be written by these instructions: {what}."
        expanded = signature.append("plan", dspy.InputField(), str)
        self.outline = dspy.Predict(_told(OutlineText, told))
        self.expand = dspy.Predict(_told(expanded, f"{signature.instructions}\n{FOLLOW_PLAN}", signature.__name__))
        self.expand.demos = [dspy.Example(plan="", **demo) for demo in demos]

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Return the signature's output fields, with the outline."""
        about = {name: inputs.get(name, "") for name in self.outline.signature.input_fields}
        outlined = self.outline(**about)
        text = self.expand(**inputs, plan=_as_text(outlined.pattern, outlined.points))
        return dspy.Prediction(**text.toDict(), pattern=outlined.pattern, points=outlined.points)


def _told(signature: type[dspy.Signature], instructions: str, name: str = "") -> type[dspy.Signature]:
    told: type[dspy.Signature] = signature.with_instructions(instructions)
    told.__name__ = name or signature.__name__
    return told


def _as_text(pattern: str, points: Sequence[Point]) -> str:
    """Format the outline for a prompt; empty without points."""
    marks = ("".join(f"[{passage}]" for passage in point.passages) for point in points)
    lines = [
        f"{number}. {point.text} {mark}" for number, (point, mark) in enumerate(zip(points, marks, strict=True), 1)
    ]
    return "\n".join([f"Order: {pattern}", *lines]) if lines else ""

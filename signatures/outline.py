"""Prompts of the outline stage (Algorithm 1, lines 24 to 33)."""

import dspy


class DraftOutline(dspy.Signature):
    """Write the outline of an encyclopedia article on the topic: "# Title" for a section, "## Title" for a
    subsection. Four to seven sections, few subsections; short, specific headings in a sensible order. No
    introduction, conclusion, references or other remarks.
    """

    topic: str = dspy.InputField()
    outline: str = dspy.OutputField()


class RefineOutline(dspy.Signature):
    """Improve the outline of an encyclopedia article with what was learnt in interviews: "# Title" for a section,
    "## Title" for a subsection. Keep good headings, add what the interviews and the titles of the sources bring
    up, drop what they cannot fill, merge what overlaps, and do not repeat a heading. Four to seven sections, few
    subsections; short, specific headings in a sensible order. No introduction, conclusion, references or other
    remarks.
    """

    topic: str = dspy.InputField()
    sources: str = dspy.InputField()
    interviews: str = dspy.InputField()
    draft: str = dspy.InputField()
    outline: str = dspy.OutputField()

"""The prompt format that the Prometheus grading models were trained on (Kim et al. 2023, 2024).

Its headings, their order, the numbered grade descriptions and the reply ``Feedback: … [RESULT] n`` are fixed: tuned
models expect them. The sentences between are ours. No reference answer is shown, as in STORM (appendix C.2).
"""

import re
from typing import Any, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError

from storm_pipeline import SettingsError
from storm_pipeline.api import PromptAdapter

_RESULT = re.compile(r"\[RESULT\]\s*\(?\s*(?:Score\s*:?\s*)?(\d{1,9})", re.I)
_HEADING = re.compile(r"^\s*#{3,}", re.M)
_FORM = """###Task Description:
You are given an instruction, a response to it, and a score rubric for one criterion.
1. Write feedback on the response that goes by the rubric and by nothing else.
2. Then give a score that is {score}.
3. Reply in this form: "Feedback: (your feedback) [RESULT] ({score})"
4. Write nothing before or after it.

###The instruction to evaluate:
{task}

###Response to evaluate:
{text}

###Score Rubrics:
[{criterion}]
{scale}

###Feedback: """


class PrometheusAdapter(PromptAdapter):
    """Formats grading prompts for Prometheus; works with the grading signatures only."""

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """Return the model's role; everything else is in the user message."""
        if set(signature.input_fields) != {"task", "text", "criterion", "scale"}:
            raise SettingsError(
                f"the Prometheus format only supports grading by a rubric, not {signature.__name__}: "
                "use another judge with judge_form 'plain' for this metric"
            )
        return "You are a fair judge who grades texts."

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        **_: Any,  # the base class's contract
    ) -> str:
        """Return the task, instruction, response and rubric under their headings, ending in ``###Feedback:``."""
        grades = _grades(signature)
        plain = {name: _HEADING.sub("##", inputs[name]) for name in ("task", "text")}  # no headings but the form's
        form = _FORM.format(**{**inputs, **plain}, score=f"an integer number between {grades[0]} and {grades[-1]}")
        return "\n\n".join(block for block in (prefix, form, suffix) if block)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Return the feedback, and the score after ``[RESULT]``."""
        found = _RESULT.search(completion)
        if found is None or int(found[1]) not in _grades(signature):
            raise AdapterParseError(
                adapter_name="PrometheusAdapter",
                signature=signature,
                lm_response=completion,
                message=f"no [RESULT] with a score of {_grades(signature)}",
            )
        feedback = completion[: found.start()].strip().removeprefix("Feedback:").strip()
        return {"feedback": feedback, "score": int(found[1])}


def _grades(signature: type[dspy.Signature]) -> tuple[int, ...]:
    return tuple(get_args(signature.output_fields["score"].annotation))

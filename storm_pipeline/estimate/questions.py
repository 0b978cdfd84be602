"""Estimating calls that are not those of a run, such as a judge's, from the sizes of their inputs and replies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import dspy

from storm_pipeline.estimate.results import Range
from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, count_tokens
from storm_pipeline.models.prices import cost, full_name, parse_prices, price_of
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import Settings

_CHARACTERS_PER_WORD = 6.2


class Question(NamedTuple):
    """The calls of one signature: their number, words of each input, and tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    words: Mapping[str, int]
    reply: int


def estimate_questions(
    settings: Settings, model: str, scenarios: Sequence[Sequence[Question]]
) -> tuple[Range, Range, Range, Range | None]:
    """Calls, prompt tokens, reply tokens, and US dollars (None if the model's price is unknown); nothing is called.

    Args:
        settings: prices and endpoint of the model.
        model: its name, as in the settings.
        scenarios: the questions of a short, a usual and a long case.
    """
    usages = []
    for rates, questions in zip((LOW, LIKELY, HIGH), scenarios, strict=True):
        sent, replied = sum(map(_tokens, questions)), sum(question.calls * question.reply for question in questions)
        usages.append((sum(question.calls for question in questions), sent * rates.english, replied * rates.english))
    calls, tokens_in, tokens_out = (Range.around(*map(round, numbers)) for numbers in zip(*usages, strict=True))
    price = price_of(full_name(model, settings), parse_prices(settings.prices))
    if price is None:
        return calls, tokens_in, tokens_out, None
    return calls, tokens_in, tokens_out, Range.around(*(cost(price, sent, 0, replied) for _, sent, replied in usages))


def _tokens(question: Question) -> float:
    """Prompt tokens of all calls."""
    inputs = {name: "x" * round(words * _CHARACTERS_PER_WORD) for name, words in question.words.items()}
    messages = PromptAdapter().format(question.signature, [], inputs)
    return question.calls * count_tokens([message["content"] for message in messages])

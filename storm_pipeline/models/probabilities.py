"""The probabilities that a model gave to the values of a typed choice, such as yes and no."""

import math
from collections.abc import Sequence
from typing import Any


def probabilities(logprobs: Any, chosen: str, options: Sequence[str]) -> dict[str, float]:
    """Return the probability of each option at the first token of the chosen one, in [0, 1]; all 0 where unknown.

    Args:
        logprobs: of a reply's tokens, in OpenAI's form, as a prediction carries them; None without any.
        chosen: the option in the reply.
        options: the values that the field may have.
    """
    found = dict.fromkeys(options, 0.0)
    tokens = logprobs["content"] if logprobs else []
    at = "".join(token["token"] for token in tokens).rfind(chosen)
    end = 0
    for token in tokens:
        end += len(token["token"])
        if at < 0 or end <= at:
            continue
        for candidate in token["top_logprobs"] or [token]:
            start = candidate["token"].strip(' ":\n{').rstrip('"}')
            for option in options:
                if start and (option.startswith(start) or start.startswith(option)):
                    found[option] += math.exp(candidate["logprob"])
        break
    return found

"""The probabilities of a typed choice, read from those of a reply's tokens."""

from typing import Any

import pytest

from storm_bench.judges.probability import probabilities


def test_probabilities_are_read_at_the_token_of_the_choice() -> None:
    def token(text: str, **others: float) -> dict[str, Any]:
        return {
            "token": text,
            "logprob": -0.1,
            "top_logprobs": [{"token": one, "logprob": value} for one, value in others.items()],
        }

    content = [token('{"matters": "', yes=0.0), token("yes", yes=-0.2877, no=-1.3863, maybe=-9.0), token('"}')]
    assert probabilities({"content": content}, "yes", ("yes", "no")) == pytest.approx(
        {"yes": 0.75, "no": 0.25}, abs=0.01
    )
    assert probabilities(None, "yes", ("yes", "no")) == {"yes": 0.0, "no": 0.0}

"""Preparation of texts for prompts: shortening to a token budget, and neutralising control tokens."""

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any

from storm_pipeline.text.files import table_beside

_AN_INPUT = 12  # tokens per input for its label and the chat template
_NEWEST_LAST = frozenset({"conversation"})  # inputs that are shortened at the beginning rather than at the end
ANGLED, BRACKETED = (names.split() for names in table_beside(__file__).values())
"""Names of control tokens: ``<name>``, in any case, and ``[NAME]``, in this case only."""
LEFT, RIGHT, BARS = "<＜﹤‹〈⟨", ">＞﹥›〉⟩", "|｜∣❘￨│ǀ"
"""Brackets and bars, including look-alikes and characters that a tokenizer may normalise to them."""
_TOKEN = re.compile(
    rf"(?P<heading>^#+)|#(?=#)|\[(?=/?(?:{'|'.join(BRACKETED)})\]|[{BARS}]|[!\w]{{0,3}}~[!\w]{{0,3}}\[)"
    rf"|\](?=[!\w]{{0,3}}~[!\w]{{0,3}}[\[\]])|[{LEFT}](?=[{BARS}]|[{LEFT}]/?(?i:SYS)[{RIGHT}]"
    rf"|/?(?!h[1-6][{RIGHT}])(?i:{'|'.join(ANGLED)}|(?=[^\W\d_]*?[_\d:{BARS}])\w++(?::\w++)*+[{BARS}]?)/?[{RIGHT}])",
    re.M,
)


def most_tokens(text: str) -> int:
    """Return an approximate upper bound of a text's tokens, from its characters, for any tokenizer.

    Three letters of English are a token, and a digit; four characters of Greek, Cyrillic, Hebrew or Arabic are three
    tokens, and five of Chinese, Japanese or an Indian script seven.
    """
    ascii_only = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    others = len(text) - ascii_only
    long = max(0, len(text.encode("utf-8", "replace")) - ascii_only - 2 * others) if others else 0
    digits = sum(map(text.count, "0123456789"))
    return math.ceil(ascii_only / 3 + 0.67 * digits + 0.75 * max(0, others - long) + 1.4 * long)


def fit_inputs(inputs: Mapping[str, Any], room: int) -> dict[str, Any]:
    """Shorten the texts of a prompt's inputs (by name) if :func:`most_tokens` counts more than ``room``.

    The longest are cut first, to a common length. Whole lines are removed, from the end, or from the beginning of a
    conversation; a single line that is too long is truncated.
    """
    texts = {name: value for name, value in inputs.items() if isinstance(value, str) and value}
    lengths = [most_tokens(text) + _AN_INPUT for text in texts.values()]
    shares = fair_shares(lengths, max(0, room))
    cut = {
        name: _shorten(text, share - _AN_INPUT, oldest_first=name in _NEWEST_LAST)
        for (name, text), length, share in zip(texts.items(), lengths, shares, strict=True)
        if share < length
    }
    return {**inputs, **cut}


def fair_shares(lengths: Sequence[int], budget: int) -> list[int]:
    """Split a budget into shares, each at most its length and at least an equal share of the remainder."""
    shares = [0] * len(lengths)
    waiting = sorted(range(len(lengths)), key=lengths.__getitem__)
    for position, index in enumerate(waiting):
        shares[index] = min(lengths[index], budget // (len(waiting) - position))
        budget -= shares[index]
    return shares


def _shorten(text: str, room: int, *, oldest_first: bool) -> str:
    lines = text.split("\n")[:: -1 if oldest_first else 1]
    used = accumulate(most_tokens(line) + 1 for line in lines)
    kept = [line for line, _ in takewhile(lambda pair: pair[1] <= room, zip(lines, used, strict=True))]
    if kept or oldest_first:
        return "\n".join(kept[:: -1 if oldest_first else 1])
    fits = bisect_right(range(1, len(lines[0]) + 1), room, key=lambda length: most_tokens(lines[0][:length]))
    return lines[0][:fits].rpartition(" ")[0] or lines[0][:fits]


def without_control_tokens(text: str) -> str:
    """Put a space after the first character of each control token, such as ``< |im_end|>``. Idempotent.

    A tokenizer may read ``<|im_end|>`` in a prompt as the end of the message. Names with a digit, an underscore, a
    colon, or a bar at their end count as control tokens, except ``<h2>`` and other HTML; so do ``[|user|]`` and
    ``]~b]``. Heading marks within a line are split too: ``###`` may open a turn, ``[[ ## answer ## ]]`` a field of
    DSPy's prompts.
    """
    return _TOKEN.sub(lambda match: match[0] if match["heading"] else f"{match[0]} ", text)

"""Control tokens of chat templates, made harmless in text that others wrote. Pure functions.

A tokenizer may read ``<|im_end|>`` in a prompt as the end of the message, and what follows as another speaker's. One
space within such a token makes it ordinary text; nothing else of the text changes.
"""

import re

ANGLED = (
    *("s", "unk", "pad", "mask", "bos", "eos", "sep", "cls", "eot", "eod", "start_of_turn", "end_of_turn"),
    *("think", "thinking", "reasoning", "tool_call", "tool_calls", "tool_response", "tools", "function_calls"),
    *("start_of_image", "end_of_image", "image_soft_token", "endoftext", "end_of_text", "begin_of_text"),
)
"""Names in ``<name>`` and ``</name>``, in any case. ``<s>`` is also how HTML strikes text out."""
BRACKETED = (
    *("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT", "IMG", "gMASK"),
    *("PREFIX", "MIDDLE", "SUFFIX", "MODEL_SETTINGS", "THINK"),
)
"""Names in ``[NAME]`` and ``[/NAME]``, in this case only."""
LEFT, RIGHT, BARS = "<＜﹤‹〈⟨", ">＞﹥›〉⟩", "|｜∣❘￨│ǀ"
"""Brackets and bars, those included that look like them or that a tokenizer may normalise to them."""
_TOKEN = re.compile(
    rf"[{LEFT}](?=[{BARS}]|/?(?i:{'|'.join(ANGLED)})/?[{RIGHT}]|[{LEFT}]/?(?i:SYS)[{RIGHT}])"
    rf"|\[(?=/?(?:{'|'.join(BRACKETED)})\])"
)


def without_control_tokens(text: str) -> str:
    """The text with a space behind the first character of each control token, such as ``< |im_end|>``. Idempotent."""
    return _TOKEN.sub(r"\g<0> ", text)

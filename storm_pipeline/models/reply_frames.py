"""What servers and models leave around a reply: thinking, channels, and special tokens. Pure functions.

A mark in backticks is mentioned, not used, so that text about marks stays as it is.
"""

import re
from collections.abc import Callable, Collection
from typing import Literal

_MARK = re.compile(
    r"""(?x)
    [<◁] \s{0,3}+ (?P<bar>[|｜]?) (?P<slash>/?) \s{0,3}+ (?P<name>[A-Za-z][\w:.▁-]*+) (?P<rest>[^<>◁▷]*+) [>▷]
    | \[ (?P<square_slash>/?) (?P<square>[A-Za-z][A-Za-z_]*+) \]
    | &lt; (?P<escaped_slash>/?) (?P<escaped>[A-Za-z][\w:.-]*+) &gt;
    """
)
"""A tag or token: ``<think>``, ``</seed:think>``, ``<|END_THINKING|>``, ``[THINK]``, ``◁think▷``, ``&lt;think&gt;``."""
_MARK_OR_OBJECT = re.compile(rf"{_MARK.pattern} | \{{")
_THINKING = frozenset("cot analysis reflection scratchpad monologue plan planning".split())
_THOUGHT = ("think", "thought", "reason")
_THINKING_FENCE = re.compile(r"\A\s*```([a-z_]{3,20})[ \t]*\n.*?\n```[ \t]*(?:\n|\Z)", re.S | re.I)
_OTHER_MARKS = (["inner", "prefix"], ["inner", "suffix"])
_ENDS = frozenset({"end", "stop", "suffix"})
_HARMONY = re.compile(r"<\|(start|channel|message|constrain|end|return|call)\|>")
_WITHOUT_TOKENS = (
    *(("analysis", "assistantfinal"), ("commentary", "assistantfinal"), ("assistantfinal", "assistantfinal")),
    ("Thinking...", "...done thinking."),
    *(("Here is my thought process:", "Here is my response:"), ("Here's my thought process:", "Here's my response:")),
)
"""How thinking begins and ends without tags: gpt-oss's lost tokens, what ``ollama run`` prints, Granite's sentences."""
_GEMMA_FINAL = re.compile(r"<\|channel>\s*(?:final|answer|response)\b[ \t]*\n?(.*?)(?:<channel\|>|\Z)", re.S)
_SPECIAL = (
    r"(?:<[|｜](?!\s|(?:channel|message|constrain)\|)[^<>|｜\n]{1,60}[|｜]>|</?s>|<(?:eos|bos|pad|unk|EOT|turn\||\|turn)>|</?(?:start|end)_of_\w+>"
    r"|\[/?INST\]|<</?SYS>>|\[(?:EOS|BOS|gMASK)\])"
)
_ROLE = r"(?:assistant|model|bot)\b[ \t]*(?=\n|<)"
_AT_START = re.compile(rf"(?:{_SPECIAL}\s*+(?:{_ROLE})?|assistant\n|[\s\ufeff\u200b\x00]++)++")
_AT_END = re.compile(rf"(?:{_SPECIAL}|\[\[ ## completed ## \]\]|\[(?:DONE|END)\]|</?END>|(?<=\n)\#{{2,}})\Z")
_END_OF_TURN = re.compile(rf"(?<![ `'\"(“‘]){_SPECIAL}(?!`)\s*+(user\b|human\b|system\b)?", re.I)
_NEXT_TURN = re.compile(r"(?<=[^\w\s])assistant\n\n")
"""What Llama's header of the next turn leaves where its tokens are not shown: ``the end.assistant``."""
_NO_ENDS = ("tool", "function", "python", "call", "box", "start", "begin", "bos", "<s>")
_TURN = re.compile(
    r"^\#{2,3}[ ]?(?:Response|Assistant|Output|Instruction|User|Human|Input|System)[ ]?:[ \t]*$", re.I | re.M
)
"""A line with which Alpaca's template and its kin begin a turn."""
LONGEST_TOKEN = 70  # characters of a tag or token
_BLANK = " \t\r\n\ufeff\u200b\x00"


def is_thinking(name: str) -> bool:
    """Return whether a tag, a channel or a key of this name holds thinking."""
    words = _words_of(name)
    is_thought = any(word.removesuffix("s").removesuffix("ing").endswith(_THOUGHT) for word in words)
    return is_thought or words in _OTHER_MARKS or not _THINKING.isdisjoint(words)


def _words_of(name: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in name.lower()).split()


def strip_thinking(text: str) -> str:
    """Remove a reasoning model's thinking: ``<think>…</think>``, ``[THINK]…[/THINK]``, channels; strip the rest.

    Text before an unmatched closing mark (chat templates open it in the prompt), and after an opening one, goes.
    """
    text = final_channel(text)
    if (fence := _THINKING_FENCE.match(text)) and is_thinking(fence[1]):
        text = text[fence.end() :]
    return "".join(text[start:end] for start, end in outside_thinking(text)).strip()


def outside_thinking(text: str, skip: Callable[[int], int] | None = None) -> list[tuple[int, int]]:
    """Return the parts of a text that are not thinking, as offsets of start and end.

    ``skip`` is called with the offset of each ``{`` outside thinking and returns the offset where reading goes on.
    """
    parts: list[tuple[int, int]] = []
    opened = ""  # name of the mark that is open
    begins = position = openings = closings = 0
    length = len(text.rstrip())
    closed = {part.partition("]")[0] for part in text.split("[/")[1:]}  # looked up for each mark
    while found := (_MARK_OR_OBJECT if skip and not opened else _MARK).search(text, position):
        position = found.end()
        if skip and found[0] == "{":
            position = skip(found.start())
            continue
        kind, name = _kind_of(text, found, opened, closed)
        if not kind:
            continue
        is_left_over = position >= length and closings >= max(1, openings)
        if kind == "closes" and not opened and not is_left_over:
            parts.clear()  # the mark that opened it is in the prompt
        elif not opened:
            parts.append((begins, found.start()))
        closings, openings = closings + (kind == "closes"), openings + (kind == "opens")
        opened = "" if kind == "closes" else opened or (name if kind == "opens" else "")
        begins = position
    return parts if opened else [*parts, (begins, len(text))]


def _kind_of(
    text: str, mark: re.Match[str], opened: str, closed: Collection[str]
) -> tuple[Literal["opens", "closes", "empty", ""], str]:
    name = (mark["name"] or mark["square"] or mark["escaped"]).lower()
    word = mark["square"] or "A"
    is_a_word = not word.isupper() and word not in closed
    if is_a_word or text[mark.start() - 1 : mark.start()] == "`" == text[mark.end() : mark.end() + 1]:
        return "", name
    slash = bool(mark["slash"] or mark["square_slash"] or mark["escaped_slash"])
    rest = (mark["rest"] or "").strip()
    if name == "channel" and bool(mark["bar"]) != (rest == "|"):  # Gemma's: <|channel>thought … <channel|>
        return "closes" if rest else "opens", name
    if slash and name == opened:
        return "closes", name
    if not is_thinking(name):
        told = re.search(r"""\b(?:type|class|name)\s*=\s*["']?([\w -]+)""", rest)
        return "opens" if told and not slash and is_thinking(told[1]) else "", name
    if rest.endswith("/"):
        return "empty", name
    return "closes" if slash or _ENDS.intersection(_words_of(name)) else "opens", name


def final_channel(text: str) -> str:
    """Return the final channel of a text in the form of gpt-oss or Gemma; the text where it has no channels.

    Where no channel is final, the text outside of all counts, then that of a channel that is not for thinking.
    """
    for begins, ends in _WITHOUT_TOKENS:
        if text.startswith(begins) and ends in text:
            return text.rpartition(ends)[2]
    if "<|channel|>" not in text and "<|message|>" not in text:
        return _GEMMA_FINAL.sub(r"\1", text) if "<|channel>" in text else text
    outside, *parts = _HARMONY.split(text)
    bodies, header = {"": outside}, ""
    for mark, said in zip(parts[::2], parts[1::2], strict=True):
        if mark == "message":
            words = _words_of(header)
            kind = "final" if "final" in words else "thinking" if any(map(is_thinking, words)) else "other"
            bodies[kind], header = said, ""
        elif mark in {"start", "channel", "constrain"}:
            header += f" {said}"
        else:
            bodies[""] += said
    return bodies.get("final", bodies[""] if bodies[""].strip() else bodies.get("other", ""))


def without_tokens(text: str) -> str:
    """Remove the special tokens at the ends of a reply."""
    started = _AT_START.match(text)
    text = text[started.end() :] if started and not started[0].isspace() else text
    text = text.strip(_BLANK)
    while found := _AT_END.search(text, max(0, len(text) - LONGEST_TOKEN)):
        text = text[: found.start()].rstrip(_BLANK)
    return text


def first_turn(text: str) -> str:
    """Return the first turn of a text in which lines such as ``### Response:`` begin turns."""
    begins = _TURN.match(text)
    body = text[begins.end() :] if begins else text
    ends = _TURN.search(body)
    return (body[: ends.start()] if ends else body).strip() if begins or ends else text


def in_words(text: str) -> str:
    """Return the words of a reply that a server sent as a tokenizer's pieces: ``TheĠroadĊ`` or ``The▁road``."""
    from tokenizers.decoders import ByteLevel

    if any(map(str.isspace, text)):
        return text
    if "Ġ" in text and "\ufffd" not in (words := str(ByteLevel().decode(list(text)))):
        return words
    return text.replace("▁", " ").replace("<0x0A>", "\n").strip() if "▁" in text else text


def end_of_turn(text: str, start: int = 0) -> int:
    """Return the offset of the first token behind ``start`` that ends a turn; the text's length without one."""
    tokens = _END_OF_TURN.finditer(text, start)
    ends = (own.start() for own in tokens if own[1] or not any(name in own[0].lower() for name in _NO_ENDS))
    end = next(ends, len(text))
    lost = _NEXT_TURN.search(text, start, end)
    return lost.start() if lost else end


def plain_key(key: str) -> str:
    """Return a key without case and separators, since models write ``relatedTopics`` and ``Related topics``."""
    return "".join(filter(str.isalnum, key)).casefold()

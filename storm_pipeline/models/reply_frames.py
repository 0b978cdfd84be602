"""What servers and models leave around a reply: thinking, channels, and special tokens. Pure functions.

A mark in backticks is mentioned, not used, so that text about marks stays as it is.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
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
    """Whether a tag, a channel or a key of this name holds thinking."""
    words = _words_of(name)
    stems = (word.removesuffix("s").removesuffix("ing") for word in words)
    is_thought = any(stem.endswith(("think", "thought", "reason")) for stem in stems)
    return is_thought or words in _OTHER_MARKS or not _THINKING.isdisjoint(words)


def _words_of(name: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in name.lower()).split()


def strip_thinking(text: str) -> str:
    """Remove a reasoning model's thinking, in whatever marks: ``<think>…</think>``, ``[THINK]…[/THINK]``, channels.

    Text before an unmatched closing mark is removed too (chat templates open the block in the prompt),
    and so is everything after an unmatched opening one. The rest is returned stripped.
    """
    text = final_channel(text)
    if (fence := _THINKING_FENCE.match(text)) and is_thinking(fence[1]):
        text = text[fence.end() :]
    return "".join(text[start:end] for start, end in outside_thinking(text)).strip()


def outside_thinking(text: str, skip: Callable[[int], int] | None = None) -> list[tuple[int, int]]:
    """The parts of a text that are no thinking, as offsets of start and end.

    Args:
        skip: called with the offset of each ``{`` outside thinking; returns the offset at which reading goes on, so
            that marks within an object are none.
    """
    parts: list[tuple[int, int]] = []
    opened = ""  # name of the mark that is open
    begins = position = openings = closings = 0
    length = len(text.rstrip())
    while found := (_MARK_OR_OBJECT if skip and not opened else _MARK).search(text, position):
        position = found.end()
        if skip and found[0] == "{":
            position = skip(found.start())
            continue
        kind, name = _kind_of(text, found, opened)
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


def _kind_of(text: str, mark: re.Match[str], opened: str) -> tuple[Literal["opens", "closes", "empty", ""], str]:
    """What a mark does to thinking, and its name; empty if nothing."""
    name = (mark["name"] or mark["square"] or mark["escaped"]).lower()
    word = mark["square"] or "A"
    is_a_word = not word.isupper() and f"[/{word}]" not in text
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
    """What a text says in its final channel, in the form of gpt-oss or Gemma; the text where it has no channels.

    Where no channel is final, what stands outside of all counts, then what is in none for thinking.
    """
    for begins, ends in _WITHOUT_TOKENS:
        if text.startswith(begins) and ends in text:
            return text.rpartition(ends)[2]
    if "<|channel|>" not in text and "<|message|>" not in text:
        return _GEMMA_FINAL.sub(r"\1", text) if "<|channel>" in text else text
    outside, *told = _HARMONY.split(text)
    bodies: dict[str, list[str]] = {"": [outside]}
    header = ""
    for mark, said in zip(told[::2], told[1::2], strict=True):
        if mark == "message":
            words = _words_of(header)
            kind = "final" if "final" in words else "thinking" if any(map(is_thinking, words)) else "other"
            bodies.setdefault(kind, []).append(said)
            header = ""
        elif mark in {"start", "channel", "constrain"}:
            header += f" {said}"
        else:
            bodies[""].append(said)
    if "final" in bodies:
        return bodies["final"][-1]
    return "".join(bodies[""]) if "".join(bodies[""]).strip() else bodies.get("other", [""])[-1]


def without_tokens(text: str) -> str:
    """A reply without the special tokens at its ends, and without what follows the end of its turn."""
    started = _AT_START.match(text)
    text = text[started.end() :] if started and not started[0].isspace() else text
    text = text.strip(_BLANK)
    while found := _AT_END.search(text, max(0, len(text) - LONGEST_TOKEN)):
        text = text[: found.start()].rstrip(_BLANK)
    return text


def first_turn(text: str) -> str:
    """The text of the first turn where lines such as ``### Response:`` begin turns; the text where none does."""
    begins = _TURN.match(text)
    body = text[begins.end() :] if begins else text
    ends = _TURN.search(body)
    return (body[: ends.start()] if ends else body).strip() if begins or ends else text


def in_words(text: str) -> str:
    """The words of a reply that a server sent as a tokenizer's own pieces: ``TheĠroadĊ`` or ``The▁road``."""
    if any(map(str.isspace, text)):
        return text
    if "Ġ" in text:
        with suppress(UnicodeDecodeError):
            return b"".join(_byte_of().get(char) or char.encode() for char in text).decode()
    return text.replace("▁", " ").replace("<0x0A>", "\n").strip() if "▁" in text else text


@cache
def _byte_of() -> dict[str, bytes]:
    """Character → byte, of byte-level tokenizers (GPT-2's and all after it)."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    characters = [*map(chr, shown), *(chr(256 + i) for i in range(len(others)))]
    return {char: bytes([byte]) for char, byte in zip(characters, [*shown, *others], strict=True)}


def end_of_turn(text: str, start: int = 0) -> int:
    """Offset of the first token behind ``start`` that ends a turn; the text's length if there is none."""
    tokens = _END_OF_TURN.finditer(text, start)
    ends = (own.start() for own in tokens if own[1] or not any(name in own[0].lower() for name in _NO_ENDS))
    end = next(ends, len(text))
    lost = _NEXT_TURN.search(text, start, end)
    return lost.start() if lost else end


def plain_key(key: str) -> str:
    """A key without case and separators: models write ``relatedTopics`` and ``Related topics``."""
    return "".join(filter(str.isalnum, key)).casefold()

"""The documentation as data: its pages, code blocks, commands and links."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"^(?:\$ |    )((?:storm|make|python|pip|uv|docker|pytest|bash) .+)$", re.M)
_INLINE = re.compile(r"(?<!`)`((?:storm |make |python -m storm_[a-z_.]+(?=[ `]))[^`…\n]*)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


@dataclass(frozen=True)
class Command:
    """A shell command of a page, without its comment; ``whole`` unless it is a mention in running text."""

    page: str
    words: tuple[str, ...]
    whole: bool = True

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[str]:
    """The Python code of a page, in order."""
    return [code for language, code in _BLOCK.findall(page.read_text("utf-8")) if language == "python"]


def commands(page: Path) -> list[Command]:
    """Commands of a page: lines of console blocks, indented lines, and inline code; ``a; b`` is two."""
    text = page.read_text("utf-8")
    whole = [words for line in _COMMAND.findall(text) for words in _split(line)]
    mentioned = [words for line in _INLINE.findall(re.sub(_BLOCK, "", text)) for words in _split(line)]
    found = [Command(name(page), words) for words in whole] + [Command(name(page), words, False) for words in mentioned]
    return list(dict.fromkeys(found))


def _split(line: str) -> list[tuple[str, ...]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set(";&|"):
            commands.append([])
        else:
            commands[-1].append(word)
    return [tuple(words) for words in commands if words]


def transcript(block: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a console block, and the lines that each should print."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.rstrip().split("\n")
        yield command, lines


def is_line(expected: str, line: str) -> bool:
    """Whether a command printed what a transcript shows, in which ``…`` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("…"))), line) is not None


def links(page: Path) -> list[str]:
    """Targets of links and pictures of a page that lead to files of the repository."""
    text = re.sub(_BLOCK, "", page.read_text("utf-8"))
    targets = [markdown or html for markdown, html in _LINK.findall(re.sub(r"`[^`\n]+`", "", text))]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and Python-Markdown form them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(_BLOCK, "", page.read_text("utf-8")), re.M)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def compare(command: str, expected: list[str], printed: str) -> None:
    """Check that the expected lines were printed in this order, possibly with others between them."""
    lines = iter([line.rstrip() for line in printed.splitlines()])
    for line in expected:
        assert any(is_line(line, one) for one in lines), f"{command}: {line!r} is not in\n{printed}"

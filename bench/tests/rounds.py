"""Rounds of ratings for tests: studies with made-up articles."""

from collections.abc import Iterable
from pathlib import Path

SYSTEMS = ("oRAG", "STORM")
TEXT = """# {title}

The road is long [1]. Silk was sold on it [2].

## History

It was built in 100 BC [1]. It is still used.

## References

1. https://a.example/road Roads of the world
2. https://b.example/silk Silk
"""
PAGES = """{"url": "https://a.example/road", "title": "Roads", "text": "The road was built in 100 BC."}
{"url": "https://b.example/silk", "title": "Silk", "text": "Silk was sold on the road."}
"""


def study_file(
    folder: Path,
    *,
    head: str,
    raters: Iterable[str] = ("anna", "boris"),
    topics: int = 2,
    more: str = "",
    every: str = "",
) -> Path:
    """Write a study of two systems' articles; ``every``: further lines of each article's table."""
    lines = ['title = "Roads"', head, 'pages = "pages.jsonl"']
    lines += [f'[[raters]]\nname = "{name}"' for name in raters]
    (folder / "pages.jsonl").write_text(PAGES, "utf-8")
    for topic in range(topics):
        for system in SYSTEMS:
            file = folder / f"{topic}-{system}.md"
            file.write_text(TEXT.format(title=f"Road {topic}"), "utf-8")
            lines.append(f'[[articles]]\ntopic = "Road {topic}"\nsystem = "{system}"\npath = "{file.name}"\n{every}')
    path = folder / "study.toml"
    path.write_text("\n".join([*lines, more]), "utf-8")
    return path

"""Research a topic and write an encyclopedia article about it, every sentence traceable to a source.

    from storm_pipeline import Storm
    article = Storm().write("Silk Road")

Importing the package is cheap: modules are imported when one of their names is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storm_pipeline.errors import StormError
    from storm_pipeline.search.base import SearchEngine
    from storm_pipeline.settings import Settings
    from storm_pipeline.storm import Storm, resume, write
    from storm_pipeline.types import Article, Outline, Snippet

__all__ = [
    "Article",
    "Outline",
    "SearchEngine",
    "Settings",
    "Snippet",
    "Storm",
    "StormError",
    "__version__",
    "resume",
    "write",
]
__version__ = "0.1.0"

_MODULES = {
    "Article": "types",
    "Outline": "types",
    "SearchEngine": "search.base",
    "Settings": "settings",
    "Snippet": "types",
    "Storm": "storm",
    "StormError": "errors",
    "resume": "storm",
    "write": "storm",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

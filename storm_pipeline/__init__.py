"""Research a topic and write an encyclopedia article about it, every sentence traceable to a source.

    from storm_pipeline import Storm
    article = Storm().write("Silk Road")

Importing the package is cheap: ``__init__.pyi`` lists its names, and a name's module is imported when the name is first
used.
"""

from storm_pipeline.text.stubs import fill, lazy_getattr, names_of

__version__ = "0.1.0"
_NAMES = names_of(__file__)
__all__ = sorted([*_NAMES, "__version__"])  # noqa: PLE0605
__getattr__ = lazy_getattr(__name__, _NAMES)
fill(formats="storm_pipeline.output.export.formats", progress="storm_pipeline.interfaces.progress")


def __dir__() -> list[str]:
    return __all__

"""Names that other distributions may use beyond the public ones and the modules of ``docs/reference``.

Everything else may change without notice.

Importing the module is cheap: ``api.pyi`` lists its names, and a name's module is imported when the name is first used.
A test fixes their number, so that a name is only added on purpose.
"""

from storm_pipeline.text.stubs import lazy_getattr, names_of

_NAMES = names_of(__file__)
__all__ = sorted(_NAMES)  # noqa: PLE0605
__getattr__ = lazy_getattr(__name__, _NAMES)

"""What other distributions build on beyond the public names and the modules of the reference (``docs/reference``).

All else may change without notice.

Importing the module is cheap: ``api.pyi`` lists its names, and a name's module is imported when the name is first used.
A test holds their number, so that the surface grows by decision only.
"""

from storm_pipeline.text.stubs import looked_up, names_of

_NAMES = names_of(__file__)
__all__ = sorted(_NAMES)  # noqa: PLE0605
__getattr__ = looked_up(__name__, _NAMES)

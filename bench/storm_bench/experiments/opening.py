"""Executors by name."""

from storm_bench.experiments.executors import Executor, LocalExecutor
from storm_pipeline import SettingsError


def open_executor(name: str, *, at_once: int = 1, address: str = "") -> Executor:
    """Open an executor by name.

    ``address``: of a Ray cluster, ``host:port`` or ``auto``; empty for workers on this machine. Raises SettingsError:
    the name is unknown or a value is invalid; MissingExtraError: the executor needs a package that is not installed.
    """
    if name == "local":
        if address:
            raise SettingsError(f"the executor 'local' takes no address ({address}): use the executor 'ray'")
        return LocalExecutor(at_once)
    if name == "ray":
        from storm_bench.experiments.ray_executor import RayExecutor

        return RayExecutor(address, at_once=at_once)
    raise SettingsError(f"unknown executor {name!r}: use 'local' or 'ray'")

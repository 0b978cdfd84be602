"""Executors by name."""

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.batch.executors import AT_ONCE, Executor, ThreadExecutor
from storm_pipeline.interfaces.batch.process_executor import ProcessExecutor


def open_executor(
    name: str = "local", *, at_once: int | None = None, processes: int = 1, address: str = ""
) -> Executor:
    """Open an executor by name: ``local`` or ``ray``.

    Args:
        at_once: maximum concurrent jobs; default: two a process.
        processes: local worker processes; 1: threads of this process.
        address: of a Ray cluster, ``host:port`` or ``auto``; empty for workers on this machine.

    Raises SettingsError: the name is unknown or a value is invalid; MissingExtraError: the executor needs a package
    that is not installed.
    """
    if name == "local":
        if address:
            raise SettingsError(f"the executor 'local' takes no address ({address}): use the executor 'ray'")
        if processes == 1:
            return ThreadExecutor(AT_ONCE if at_once is None else at_once)
        return ProcessExecutor(processes, at_once=at_once)
    if name == "ray":
        from storm_pipeline.interfaces.batch.ray_executor import RayExecutor

        if processes != 1:
            raise SettingsError("the executor 'ray' takes no number of processes: Ray starts one for each article")
        return RayExecutor(address, at_once=at_once)
    raise SettingsError(f"unknown executor {name!r}: use 'local' or 'ray'")

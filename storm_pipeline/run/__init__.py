"""The record of a run and its limits: events, journal of paid calls, ledger with its caps, folder, locks, log.

Also what every run needs of the machine: threads, processes, retries, pinned downloads (``assets/``). What a step gets
of a run is ``method/context.py``, which is made of all rooms below it. May import errors, settings, text, types.
"""

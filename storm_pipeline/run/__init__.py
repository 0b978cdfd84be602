"""The record of a run (events, journal, ledger, folder, log), its limits, threads, processes, pinned downloads.

What a step gets of a run is ``method/context.py``. May import errors, settings, text, types.
"""

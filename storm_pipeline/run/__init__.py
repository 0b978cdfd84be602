"""The record of a run (events, journal, ledger, folder, log), its limits, threads, processes, pinned downloads.

The interface of a run for steps is ``method/context.py``. May import errors, settings, text, types.
"""

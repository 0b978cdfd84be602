"""The record of a run (events, journal, ledger, folder, log), its limits, threads, processes, pinned downloads.

The part of a run that a step gets is ``method/context.py``. May import errors, settings, text, types.
"""

"""User interfaces to runs: command line, server, batches, estimates, progress.

May import errors, evidence, method, models, optimize, output, recipes, run, settings, sources, storm, text, types.
"""

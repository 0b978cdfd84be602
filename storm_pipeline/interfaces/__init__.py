"""What people and programs start runs with: command line, server, batches, estimates, progress; thin.

May import errors, evidence, method, models, optimize, output, recipes, run, settings, sources, storm, text, types.
"""

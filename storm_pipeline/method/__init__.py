"""The method of the paper: steps, each ``step(ctx, inputs) -> value``, writers of sections, and a run's context.

Whole methods are composed of them in ``recipes.py``. May import errors, evidence, models, run, settings, signatures,
sources, text, types.
"""

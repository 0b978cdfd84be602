"""The method of the paper: steps, each ``step(ctx, inputs) -> value``, writers of sections, a run's context.

May import errors, evidence, models, run, settings, signatures, sources, text, types.
"""

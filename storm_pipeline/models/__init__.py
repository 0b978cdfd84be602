"""Language models: roles and their models, prompts, prices, and asking within the bounds of a run."""

"""Every figure of the README comes from a module here; run one as `python -m benchmarks.NAME` in the checkout."""

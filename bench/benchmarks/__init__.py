"""Benchmarks that produce the figures in the README; run one as `python -m benchmarks.NAME` in the checkout."""

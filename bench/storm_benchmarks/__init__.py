"""Benchmarks that produce the figures in the README; run one as `python -m storm_benchmarks.NAME` in the checkout."""

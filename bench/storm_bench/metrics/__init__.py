"""The papers' metrics, one per file, all with the interface of :mod:`storm_bench.metrics.base`."""

"""The papers' metrics, all with the interface of :mod:`storm_bench.metrics.base`."""

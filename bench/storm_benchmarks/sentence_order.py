"""Trains the scorer of CONNER's paragraph coherence anew, and measures it on leads that were kept apart.

python -m storm_benchmarks.sentence_order
"""

from storm_bench.metrics.resources import Resources
from storm_bench.metrics.sentence_order import LEADS, order_file, save_order, train_on_leads
from storm_benchmarks.shared import options
from storm_pipeline.api import fetch


def main() -> None:
    """Print the accuracy, and keep the weights in the cache."""
    cache = options(__doc__, "cache").parse_args().cache
    embedder = Resources(cache).vectors
    weights, accuracy = train_on_leads(fetch(LEADS, cache), embedder)
    save_order(weights, embedder.name, order_file(cache))
    print(f"{accuracy:.1%} of the held-out leads score higher than a random order of theirs: {order_file(cache)}")


if __name__ == "__main__":
    main()

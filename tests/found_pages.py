"""Pages that a search engine finds, whatever is asked."""

import re
from collections.abc import Sequence

from storm_pipeline import Snippet

NOUNS = "silk spice glass paper horse jade amber ivory cotton tea salt wool copper tin lacquer dye".split()
PLACES = "Samarkand Bukhara Kashgar Antioch Merv Palmyra Dunhuang Tyre Aleppo Balkh Herat Khotan".split()
MADE = "brokers in {p} weighed {n} on public scales before caravans carried it across the desert towards {q} in spring"


def world(query: str) -> Sequence[Snippet]:
    """Six distinct pages for any query, each with three sentences about early history, goods, routes and legacy."""
    start = sum(map(ord, query))
    topic = re.search(r"aspect \d+ of (.+)\?", query)
    return [page(start * 7 + i, topic.group(1) if topic else "Silk Road") for i in range(6)]


def page(i: int, topic: str = "Silk Road") -> Snippet:
    n, p, q = NOUNS[i % 16], PLACES[i % 12], PLACES[(i * 5 + 3) % 12]
    text = (
        f"{topic} history, early history: {MADE.format(n=n, p=p, q=q)}. "
        f"{topic} goods: goods such as {n} from {p} paid tolls of {i % 90 + 10} dirhams near {q}. "
        f"{topic} routes: the northern routes for {n} led riders from {p} past ruined forts to {q}. "
        f"{topic} legacy: a legacy of {n} weaving survives in museums of {p} and in songs of {q} herders."
    )
    return Snippet(f"https://example.org/{n}/{i}", f"{n.title()} of {p}", text)

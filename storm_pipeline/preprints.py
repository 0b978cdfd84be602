"""Preprint servers: repositories of papers that no journal has reviewed yet."""

from storm_pipeline.identity import host_of

PREPRINT_SERVERS = frozenset(
    {
        "advance.sagepub.com", "africarxiv.org", "arxiv.org", "authorea.com", "biorxiv.org", "chemrxiv.org",
        "chinaxiv.org", "eartharxiv.org", "eprint.iacr.org", "medrxiv.org", "preprints.org", "psyarxiv.com",
        "researchsquare.com", "sportrxiv.org", "ssrn.com", "techrxiv.org",
    }
)  # fmt: skip
"""Hosts, with all below them."""
PREPRINT = "preprint"
"""How a reference list marks such a source."""


def is_preprint(url: str) -> bool:
    """Whether an address is on a preprint server."""
    labels = host_of(url).split(".")
    return any(".".join(labels[start:]) in PREPRINT_SERVERS for start in range(len(labels)))

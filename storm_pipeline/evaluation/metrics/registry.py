"""From a metric's name to the metric. A new one is a module here and a row in the table."""

METRICS: dict[str, str] = {
    "citation_alce": "citation_alce:make",
    "citation_wikigenbench": "citation_wikigenbench:make",
    "support_errors": "support_errors:make",
    "rubric": "rubric:make",
    "wikigen_quality": "wikigen_quality:make",
    "ib_score": "ib_score:make",
}
"""Name → module of this folder and its function from what an evaluation shares to a metric."""

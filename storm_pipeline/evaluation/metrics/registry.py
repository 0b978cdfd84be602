"""Where each metric is found, by name: ``module:class``. Nothing is imported before it is asked for."""

METRICS: dict[str, str] = {
    "citation_alce": "storm_pipeline.evaluation.metrics.citation_alce:CitationAlce",
    "citation_wikigenbench": "storm_pipeline.evaluation.metrics.citation_wikigenbench:CitationWikiGenBench",
    "support_errors": "storm_pipeline.evaluation.metrics.support_errors:SupportErrors",
    "rubric": "storm_pipeline.evaluation.metrics.rubric:RubricGrades",
    "wikigen_quality": "storm_pipeline.evaluation.metrics.wikigen_quality:WikiGenQuality",
    "ib_score": "storm_pipeline.evaluation.metrics.ib_score:IbScore",
}

"""Writing articles about many topics: topics fail independently of each other, and a batch can be resumed.

    from storm_pipeline.interfaces.batch import read_topics, write_batch
    report = write_batch(read_topics("topics.csv"), lm="openai/gpt-4o", search="you", at_once=4)
    for row in report.rows:
        print(row.request.topic, row.state, row.folder or row.error)

A batch has one folder with ``batch.json`` and the folder of each topic's run.
"""

from storm_pipeline.interfaces.batch.batch_folder import is_batch
from storm_pipeline.interfaces.batch.executors import Executor, JobLost
from storm_pipeline.interfaces.batch.opening import open_executor
from storm_pipeline.interfaces.batch.run_batch import Batch, resume_batch, write_batch
from storm_pipeline.interfaces.batch.topics import BatchReport, BatchSink, TopicRequest, TopicStatus, read_topics

__all__ = [
    "Batch", "BatchReport", "BatchSink", "Executor", "JobLost", "TopicRequest", "TopicStatus", "is_batch",
    "open_executor", "read_topics", "resume_batch", "write_batch",
]  # fmt: skip

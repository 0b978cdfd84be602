"""Many topics written in one go: an article each, a bad one harms no other, and the whole can be resumed.

    from storm_pipeline.batch import read_topics, write_batch
    report = write_batch(read_topics("topics.csv"), lm="openai/gpt-4o", search="you", at_once=4)
    for row in report.rows:
        print(row.order.topic, row.state, row.folder or row.error)

What a batch makes lies in one folder: ``batch.json``, and the folder of each topic's run.
"""

from storm_pipeline.batch.entry import resume_batch, write_batch
from storm_pipeline.batch.orders import TopicOrder, read_topics
from storm_pipeline.batch.rows import BatchReport, BatchSink, TopicRow
from storm_pipeline.batch.running import Batch
from storm_pipeline.batch.store import is_batch

__all__ = [
    "Batch",
    "BatchReport",
    "BatchSink",
    "TopicOrder",
    "TopicRow",
    "is_batch",
    "read_topics",
    "resume_batch",
    "write_batch",
]

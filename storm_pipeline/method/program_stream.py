"""An article as ``dspy.streamify`` gives it: a message a section, one for the lead, then the prediction."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import dspy
from dspy.streaming.messages import StreamResponse, sync_send_to_stream

from storm_pipeline.method.section_markdown import section_to_markdown
from storm_pipeline.run.events import EventSink, SectionWritten
from storm_pipeline.run.stream import Stream
from storm_pipeline.types import Section

Make = Callable[[Sequence[EventSink], threading.Event], dspy.Prediction]
"""A function that makes a prediction and sends the events of its run to sinks, until the event says to stop."""


def send_sections(stream: Any, named: Mapping[str, tuple[str, str]], make: Make) -> dspy.Prediction:
    """Return the prediction; send each section as it is written, and the lead at the end.

    The run has a thread of its own, and this one, which DSPy can send from, waits for its events.

    Args:
        stream: of ``dspy.settings.send_stream``.
        named: ``section`` and ``lead``, as far as they are wanted → names of predictor and field.
    """
    send = partial(sync_send_to_stream, stream)
    halt = threading.Event()
    with dspy.context(send_stream=None, stream_listeners=[]):
        events = Stream(lambda sink: make([sink], halt), halt)
    with events:
        for event in events:
            if isinstance(event, SectionWritten) and "section" in named:
                send(StreamResponse(*named["section"], event.text, is_last_chunk=True))
        made: Any = events.article
    lead = made.get("lead") if "lead" in made else getattr(made.get("article"), "lead", ())
    if lead and "lead" in named:
        text = section_to_markdown(Section("", lead)).removeprefix("##").strip()
        send(StreamResponse(*named["lead"], text, is_last_chunk=True))
    return made

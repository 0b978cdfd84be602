"""The names that the files and folders of a topic's article may have."""

from storm_bench.types import Topic

_LONGEST_TITLE = 125  # characters to which knowledge-storm cuts a folder's name
_LONGEST = 250  # bytes of a name without its suffix; file systems allow 255 with it


def file_names(topic: Topic) -> tuple[str, ...]:
    """The names for a topic, without suffix: its id, and its title as knowledge-storm names the folder of a run."""
    titled = topic.title.replace(" ", "_").replace("/", "_")[:_LONGEST_TITLE]
    return tuple(name for name in dict.fromkeys([topic.id, titled]) if len(name.encode("utf-8", "replace")) <= _LONGEST)

"""Teachers for sets of outlined answers: any model of the package, by the program of ``storm answer``; or a file.

Departures from FoRAG's appendix A: two calls, outline and answer, in place of one; of a point that names several
materials the first one counts, so that each point rests on one; citations are taken out of the answer, which the
paper forbids the teacher to write.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storm_pipeline import ReplyError, Settings
from storm_pipeline.api import Journal, LanguageModels, Programs, open_models
from storm_training.files import isolated, rows_of
from storm_training.lfqa import MARK, Outlined, Source, Teacher, numbered


def written_answers(path: Path) -> dict[str, Outlined]:
    """Return people's answers by question, from JSON lines with ``question``, ``structure``, ``points``, ``answer``.

    Raises TrainingError: a line is not such an object.
    """
    return dict(isolated(path, _answers, "answers, a JSON object in each line"))


def _answers(path: str) -> Iterator[tuple[str, Outlined]]:
    for row in rows_of(path):
        yield row["question"], Outlined(row["structure"], tuple(row["points"]), row["answer"])


@contextmanager
def model_teacher(settings: Settings, replies: Path) -> Iterator[Teacher]:
    """Yield the teacher that asks the writer's model, while its file of replies is open.

    Args:
        settings: of model, language and ``answer_words``.
        replies: a file that keeps what the model replied: a set that was begun is gone on with, and asks nothing twice
            but what could not be read.

    Yields:
        A function of a source; its answer is empty where the model's reply cannot be read.

    Raises:
        SettingsError, AssetError, ModelError: the model cannot be opened.
    """
    program = Programs().answer
    with Journal(replies) as journal:
        models = LanguageModels.outside_a_run(open_models(settings), settings, journal=journal)

        def teach(source: Source) -> Outlined:
            asked = {"question": source.question, "language": settings.language_name, "style": settings.style or ""}
            shown = {"passages": numbered(source.materials), "words": settings.answer_words}
            try:
                found = models.ask("writer", program, **asked, **shown)
            except ReplyError:
                return Outlined("", (), "")
            points = (f"{point.text} [{point.passages[0]}]" for point in found.points if point.passages)
            return Outlined(found.pattern, tuple(points), MARK.sub("", found.text).strip())

        yield teach

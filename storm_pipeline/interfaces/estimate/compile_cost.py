"""What compiling costs at most, before anything is asked."""

from collections.abc import Iterable

from storm_pipeline.interfaces.estimate.formula import REASONING, count_tokens
from storm_pipeline.models.prices import full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.optimize.compiling import REFLECTION, Job, flat
from storm_pipeline.optimize.optimizers import MOST_SHOWN

_READ = 3  # examples with feedback that a model sees when it writes new instructions, at least


def most_dollars(job: Job, models: Iterable[str | None] = ()) -> float | None:
    """Return a job's cost in US dollars if it makes all calls that it may; None if a model's price is unknown.

    Each call is taken to be as dear as the dearest model makes it, ``models`` included, with as many examples as an
    optimiser shows, and replies of the length that is expected of a small model.
    """
    settings, program = job.settings, Programs().named()[job.task.program]
    inputs = [dict(example.inputs()) for example in flat(*job.split)]
    prompts = [PromptAdapter().format(program.predict.signature, program.shown, own) for own in inputs]
    prompt = sum(count_tokens([str(message["content"]) for message in own]) for own in prompts) / len(inputs)
    example = sum(count_tokens([str(own)]) for own in inputs) / len(inputs) + program.token_limit
    writing = (job.candidates + 1) * (job.optimizer == "gepa")
    sent = job.most_calls * (prompt + MOST_SHOWN * example) + writing * (prompt + _READ * 2 * example)
    known = parse_prices(settings.prices)
    names = {settings.lm_of(job.task.role), *filter(None, models)}
    totals = []
    for name in names:
        if (price := price_of(full_name(name, settings), known)) is None:
            return None
        thought = REASONING[1] * reasons_by_default(name)
        replied = job.most_calls * (program.token_limit + thought) + writing * (REFLECTION + thought)
        totals.append(price.cost(sent, 0, replied))
    return max(totals)

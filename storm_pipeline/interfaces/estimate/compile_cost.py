"""Maximum cost of compiling, before any call."""

from collections.abc import Iterable

from storm_pipeline.interfaces.estimate.formula import REASONING, count_tokens
from storm_pipeline.models.prices import full_name, parse_prices, price_of, reasons_by_default
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.optimize.compiling import REFLECTION, Job, flat
from storm_pipeline.optimize.optimizers import MOST_SHOWN

_READ = 3  # minimum examples with feedback in a prompt for new instructions


def most_dollars(job: Job, models: Iterable[str | None] = ()) -> float | None:
    """Return the maximum cost of a job in US dollars; None if a model's price is unknown.

    Each call is priced by the most expensive model, including ``models``, with the optimiser's number of examples, and
    replies of the length expected of a small model.
    """
    settings, program = job.settings, Programs().named()[job.task.program]
    inputs = [dict(example.inputs()) for example in flat(*job.split)]
    prompts = [PromptAdapter().format(program.predict.signature, program.shown, values) for values in inputs]
    prompt = sum(count_tokens([str(message["content"]) for message in values]) for values in prompts) / len(inputs)
    example = sum(count_tokens([str(values)]) for values in inputs) / len(inputs) + program.token_limit
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

"""Rendering many payloads by a language model: several at once, resumable, with what it cost."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from veilgym import __version__
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.fidelity import Fault
from veilgym.envs.core.prose import Rendering
from veilgym.envs.core.records import to_json
from veilgym.wrappers.model_brief import Payload, brief_of
from veilgym.wrappers.model_journal import Entry, Header, Journal
from veilgym.wrappers.model_renderer import Ask, Attempt, Message, Reply, Spent, render_payload

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model, ModelOutput

_ERRORS = 5  # requests in a row that fail before the run is given up


class Settings(msgspec.Struct, frozen=True):
    """How a model renders.

    Attributes:
        tries: Requests a part before a payload is rejected.
        part_size: Records a part.
        connections: Payloads at once.
        max_tokens: Of a reply; None for the model's own limit.
        temperature: None for the model's own.
        timeout: Seconds for one request; None for no limit.
        max_retries: Repetitions of a request that the server refuses for the moment, or that takes too long; None for
            no limit.
        seed: For models that take one.
    """

    tries: int = 3
    part_size: int = 40
    connections: int = 10
    max_tokens: int | None = None
    temperature: float | None = None
    timeout: int | None = 600
    max_retries: int | None = 5
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in ("tries", "part_size", "connections"):
            check_count(name, getattr(self, name))


class Rejected(msgspec.Struct, frozen=True):
    """A payload that has no rendering, and why."""

    id: str
    faults: list[Fault]


class Progress(msgspec.Struct):
    """How far a run is.

    Attributes:
        total: Rows in all.
        rendered, rejected, failed: Rows with a rendering, without one, and those whose request raised.
        spent: By this run and those before it.
    """

    total: int
    rendered: int = 0
    rejected: int = 0
    failed: int = 0
    spent: Spent = msgspec.field(default_factory=Spent)

    def count(self, entry: Entry) -> None:
        """Count one more finished row."""
        if entry.text is None:
            self.rejected += 1
        else:
            self.rendered += 1
        for name in Spent.__struct_fields__:
            setattr(self.spent, name, getattr(self.spent, name) + getattr(entry.spent, name))


class Report(msgspec.Struct, frozen=True):
    """What has been done, in the order of the rows.

    Attributes:
        progress: The numbers.
        renderings: By id, those that are faithful.
        rejected: By id.
        errors: By id, what a request raised; these rows are not finished, and a second run asks again.
    """

    progress: Progress
    renderings: dict[str, Rendering]
    rejected: dict[str, Rejected]
    errors: dict[str, str]

    @property
    def is_finished(self) -> bool:
        """Whether every row has a rendering or has been rejected."""
        return self.progress.rendered + self.progress.rejected == self.progress.total

    @property
    def codes(self) -> dict[str, int]:
        """How many rejected rows have each code, the most frequent first."""
        rows = [dict.fromkeys(fault.code.value for fault in row.faults) for row in self.rejected.values()]
        found = Counter(code for row in rows for code in row)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


Rows = Sequence[tuple[str, Payload]]


def render_with_model(
    rows: Rows,
    model: str | Model,
    journal: Path,
    settings: Settings | None = None,
    *,
    again: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    **model_args: Any,
) -> Report:
    """Let a language model tell payloads; every rendering is verified, and only a faithful one is used.

    Args:
        rows: Different ids with their payloads.
        model: A name for inspect-ai such as "openai-api/local/NAME" or "anthropic/NAME", or one of its models.
        journal: File of what is finished; a second run with the same arguments does only the rest.
        settings: None for the defaults.
        again: Whether to ask again for rows that were rejected before.
        progress: Called at the start and whenever a row is finished or its request has raised.
        **model_args: For inspect-ai's `get_model`, such as `base_url`.

    Raises:
        ValueError: an argument is wrong, the journal is damaged or belongs to other arguments, inspect-ai is not
            installed, or five requests in a row failed.
    """
    chosen = settings or Settings()
    loaded = load_model(model, chosen, **model_args)
    name = str(loaded)
    with Journal(journal, _header(rows, name, chosen)) as done:
        if again:
            done.forget(entry.id for entry in list(done.entries.values()) if entry.text is None)
        return asyncio.run(_run(rows, _ask(loaded), f"model:{name}", chosen, done, progress))


def load_model(model: str | Model, settings: Settings, **model_args: Any) -> Model:
    """The model of inspect-ai with the settings.

    Raises:
        ValueError: inspect-ai is not installed, or knows no such model.
    """
    try:
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError:
        raise ValueError(
            "a language model needs inspect-ai (Python 3.11 or later): pip install 'veilgym[llm]'"
        ) from None
    if not isinstance(model, str):
        return model
    config: GenerateConfig = GenerateConfig(
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
        attempt_timeout=settings.timeout,
        max_retries=settings.max_retries,
        max_connections=settings.connections,
    )
    try:
        return get_model(model, config=config, memoize=False, **model_args)
    except Exception as error:  # whatever a provider raises for a wrong name or a missing key
        raise ValueError(f"model {model!r} cannot be used: {error}") from None


def _header(rows: Rows, model: str, settings: Settings) -> Header:
    digest, seen = hashlib.sha256(), set[str]()
    for row_id, payload in rows:
        if row_id in seen:
            raise ValueError(f"rows: got the id {row_id!r} twice, allowed are different ids")
        seen.add(row_id)
        brief_of(payload)
        digest.update(row_id.encode() + b" " + to_json(payload) + b"\n")
    kept = ("tries", "part_size", "max_tokens", "temperature", "seed")  # the others do not change what is asked
    return Header(__version__, digest.hexdigest(), model, {name: str(getattr(settings, name)) for name in kept})


def _ask(model: Model) -> Ask:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}

    async def ask(messages: list[Message]) -> Reply:
        output = await model.generate([kinds[role](content=text) for role, text in messages])
        return _reply(output)

    return ask


def _reply(output: ModelOutput) -> Reply:
    """What VeilGym needs of a provider's answer; one without choices is an empty reply."""
    usage = output.usage
    read = (
        (usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0))
        if usage
        else 0
    )
    tokens = (read, usage.output_tokens if usage else 0)
    reason = output.stop_reason if output.choices else "stop"
    stop = {"max_tokens": "length", "model_length": "length", "content_filter": "refused"}.get(reason, "stop")
    return Reply(output.completion or "", stop, tokens, (usage.total_cost or 0.0) if usage else 0.0)


async def _run(
    rows: Rows, ask: Ask, skin: str, settings: Settings, done: Journal, show: Callable[[Progress], None]
) -> Report:
    """Work through the rows with some workers; stop all of them when requests fail one after another."""
    waiting = iter([(row_id, payload) for row_id, payload in rows if row_id not in done.entries])
    progress, errors = Progress(len(rows)), dict[str, str]()
    in_a_row: list[str] = []
    for entry in done.entries.values():
        progress.count(entry)

    async def work() -> None:
        for row_id, payload in waiting:  # shared: each worker takes the next row
            if len(in_a_row) >= _ERRORS:
                return
            try:
                attempt = await render_payload(payload, ask, skin, tries=settings.tries, part_size=settings.part_size)
            except Exception as error:  # of any provider; the row stays unfinished
                errors[row_id] = f"{type(error).__name__}: {error}"
                in_a_row.append(row_id)
                progress.failed += 1
            else:
                in_a_row.clear()
                entry = _entry(row_id, attempt)
                done.add(entry)
                progress.count(entry)
            show(progress)

    show(progress)
    await asyncio.gather(*(work() for _ in range(settings.connections)))
    if len(in_a_row) >= _ERRORS:
        raise ValueError(
            f"{len(in_a_row)} requests in a row failed, the last with {errors[in_a_row[-1]]}; what is finished is kept"
        )
    return _report(rows, skin, done, errors, progress)


def _entry(row_id: str, attempt: Attempt) -> Entry:
    rendering = attempt.rendering
    text, names = (None, {}) if rendering is None else (rendering.text, rendering.names)
    return Entry(row_id, text, names, attempt.faults, attempt.last_reply, attempt.spent)


def _report(rows: Rows, skin: str, done: Journal, errors: dict[str, str], progress: Progress) -> Report:
    renderings: dict[str, Rendering] = {}
    rejected: dict[str, Rejected] = {}
    for row_id, _ in rows:
        entry = done.entries.get(row_id)
        if entry is not None and entry.text is None:
            rejected[row_id] = Rejected(row_id, entry.faults)
        elif entry is not None and entry.text is not None:
            renderings[row_id] = Rendering(skin, entry.text, entry.names)
    return Report(progress, renderings, rejected, errors)

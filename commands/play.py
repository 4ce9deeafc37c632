"""`veilgym play`: a person plays an episode in the terminal."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veilgym.commands.options import Length, Split, read_length
from veilgym.commands.terminal import plain_errors
from veilgym.registry import ENTRIES, Entry, entry_of

if TYPE_CHECKING:
    from veilgym.envs.causal_circuits.task import Task

Id = Annotated[str, typer.Argument(help="Id of an env, or name of a family: causal-circuits, hidden-system, ...")]
Seed = Annotated[int | None, typer.Option(min=0, help="Names the episode; drawn, and said, if not given.")]
Skin = Annotated[str | None, typer.Option(help="The words in which it is told; the family's first if not given.")]
TaskFile = Annotated[Path | None, typer.Option(help="Task file (JSON) instead of the default task.")]

_COMMANDS = """\
Type one of
  help     this text
  again    the problem once more, with what is known now
  quit     leave without an answer"""
_CIRCUIT_COMMANDS = """\
  predict  enter the prediction, row by row; ends the episode
  initial  the readings that were free of charge
or the id of an experiment to run it, such as {first}.
JSON as a language model would write it does as well: {{"action_id": "{first}"}}."""
_QUERY_COMMANDS = """\
or your answer: {options}."""


class _Left(Exception):  # noqa: N818 - no error
    """The person leaves; the text says how."""


def play(
    name: Id,
    seed: Seed = None,
    split: Split = "train",
    length: Length = None,
    skin: Skin = None,
    task: TaskFile = None,
) -> None:
    """Play one episode: read the problem, experiment or answer, see the score and, if you like, the truth."""
    with plain_errors():
        entry = _entry(name)
        if length is not None and not entry.has_length:
            raise ValueError(f"--length needs a family that has one, got {entry.family}")
        arguments = _arguments(split, length, task)
        seed = secrets.randbelow(10**6) if seed is None else seed
        env = _make(entry, skin, arguments)
        problem, _ = env.reset(seed=seed)
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")  # what is no text is nonsense, which is answered as such
        with contextlib.suppress(ImportError):  # not on every system
            import readline  # noqa: F401 - makes lines editable
        _say(f"{problem}\n\n{_help(entry, env)}\n")
        _say(f"This is {entry.id} with seed {seed} of the {split} split.")
        try:
            _turns(entry, env, problem)
            _offer_truth(entry, env, problem, seed, arguments)
        except _Left as left:
            _say(str(left))
            raise typer.Exit(1) from None


def _entry(name: str) -> Entry:
    """The entry of a name that a person has typed, in letters of either size."""
    names = {known.lower(): entry.id for entry in ENTRIES for known in (entry.id, entry.family)}
    return entry_of(names.get(name.lower().removeprefix("veilgym:"), name))


def _arguments(split: str, length: str | None, task: Path | None) -> dict[str, Any]:
    from veilgym.envs.core.arguments import read_task_file

    given = {"length": read_length(length), "task": None if task is None else read_task_file(task)}
    return {"split": split, **{name: value for name, value in given.items() if value is not None}}


def _make(entry: Entry, skin: str | None, arguments: dict[str, Any]) -> Any:
    import gymnasium as gym

    from veilgym.wrappers.text_action import TextAction
    from veilgym.wrappers.text_observation import TextObservation

    # A person has as much time as they like: without the limit of steps.
    return TextAction(TextObservation(gym.make(entry.id, **arguments, max_episode_steps=-1), skin))


def _help(entry: Entry, env: Any) -> str:
    if entry.family == "causal-circuits":
        return f"{_COMMANDS}\n{_CIRCUIT_COMMANDS.format(first=env.unwrapped.task.experiments[0].id)}"
    return f"{_COMMANDS}\n{_QUERY_COMMANDS.format(options=' or '.join(env.unwrapped.answer_options))}"


def _turns(entry: Entry, env: Any, problem: str) -> None:
    """Serve what is typed until the episode ends."""
    while True:
        typed = _ask("> ")
        command = typed.lower().rstrip(".!?")
        if command in ("help", "h", "") or typed == "?":
            _say(_help(entry, env))
        elif command == "again":
            _say(problem)
        elif command in ("quit", "exit", "q"):
            raise _Left("You left before the end.")
        else:
            reply = _reply(entry, env, typed)
            if reply is None:
                continue
            problem, _, terminated, truncated, info = env.step(reply)
            _say(info["reply"])
            if terminated or truncated:
                return


def _reply(entry: Entry, env: Any, typed: str) -> str | None:
    """What a language model would write for what a person typed; None if they changed their mind."""
    if entry.family != "causal-circuits":
        return typed
    from veilgym.envs.causal_circuits.prose import name_of

    task: Task = env.unwrapped.task
    word = typed.strip("\"'`").lower()
    if word in ("predict", "submit"):
        return _prediction(task)
    if word in ("initial", "observe_initial"):
        return _request("observe_initial")
    for experiment in task.experiments:
        if typed in (experiment.id, name_of(experiment.id)) or word == experiment.id.lower():
            return _request(experiment.id)
    if "{" in typed:
        return typed
    names = ", ".join(name_of(experiment.id) for experiment in task.experiments)
    _say(f'{typed[:60]!r} is not understood. Experiments are {names}; "predict" enters the prediction.')
    return None


def _request(name: str) -> str:
    import json

    return json.dumps({"action_id": name})


def _prediction(task: Task) -> str | None:
    """The prediction as a person enters it, row by row."""
    import json

    from veilgym.envs.causal_circuits.prose import clamps

    count, columns = task.prediction_shape
    what = ", ".join(task.outputs)
    _say(f'Enter {what} for each intervention, as {columns} numbers in a row. "back" goes back a row or leaves.')
    rows: list[list[float]] = []
    while len(rows) < count:
        typed = _ask(f"{len(rows) + 1} of {count}, {clamps(task.prediction_queries[len(rows)])}: {what}? ")
        if _is_prediction(typed):
            return typed
        if typed.lower() == "back":
            if not rows:
                _say("Nothing is submitted.")
                return None
            rows.pop()
            continue
        row = _numbers(typed)
        if row is None or len(row) != columns:
            example = " ".join(["0.1"] * columns)
            _say(f"{typed[:60]!r} is not understood; allowed are {columns} numbers, such as {example}.")
        else:
            rows.append(row)
    return json.dumps({"prediction": rows})


def _is_prediction(typed: str) -> bool:
    """Whether a line is the whole prediction, as a language model would write it."""
    from veilgym.envs.core.strict_json import JsonError, read_json

    try:
        document = read_json(typed)
    except JsonError:
        return False
    return isinstance(document, dict) and "prediction" in document


def _numbers(typed: str) -> list[float] | None:
    """The finite numbers in a line; None if it has something else."""
    try:
        numbers = [float(word) for word in typed.strip("[]()").replace(",", " ").split()]
    except ValueError:
        return None
    return numbers if all(abs(number) < float("inf") for number in numbers) else None


def _offer_truth(entry: Entry, env: Any, problem: str, seed: int, arguments: dict[str, Any]) -> None:
    while True:
        try:
            typed = _ask("Show the truth? [y/n] ").lower()
        except _Left:  # the input has ended, but so has the episode
            _say("")
            return
        if typed in ("y", "yes"):
            from veilgym.commands.truth import tell_truth

            _say(tell_truth(entry.family, env, problem, seed, arguments))
            return
        if typed in ("n", "no", "", "quit", "q"):
            return
        _say("Type y or n.")


def _ask(prompt: str) -> str:
    """A line that the person types, without white space around it."""
    try:
        return input(prompt).strip()
    except EOFError:
        raise _Left("\nThe input has ended before the episode.") from None


def _say(text: str) -> None:
    """Print, with lines broken between words where a terminal shows them."""
    if sys.stdout.isatty():
        width = max(40, shutil.get_terminal_size().columns - 1)
        lines = [
            textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n")
        ]
        text = "\n".join("\n".join(pieces) for pieces in lines)
    typer.echo(text)

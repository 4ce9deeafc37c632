"""The shortcut ledger: what shallow strategies score on an id, beside the ideal observer, with intervals and gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from gymnasium.envs.registration import load_env_creator
from numpy.typing import NDArray

from veilgym import __version__
from veilgym.agents.statistics import score_interval
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.seeding import check_seed
from veilgym.registry import Entry

Progress = Callable[[str], None]

FEWEST_TRAINING = 100
"""With fewer instances some family may lack one of the answers, and no classifier could be trained."""


@dataclass(frozen=True)
class LedgerLine:
    """One strategy on one configuration.

    Attributes:
        setting: The configuration, "short" for instance.
        strategy: Name.
        score: Mean score.
        interval: 95 % interval of the mean over instances, see `score_interval`.
        instances: How many.
        gate: What the score may not exceed ("at most") or fall below ("at least"), None where it is only reported.
    """

    setting: str
    strategy: str
    score: float
    interval: tuple[float, float] | None
    instances: int
    gate: tuple[str, float] | None

    @property
    def is_kept(self) -> bool:
        """Whether the score keeps to its gate."""
        if self.gate is None:
            return True
        kind, bound = self.gate
        return self.score <= bound if kind == "at most" else self.score >= bound


@dataclass(frozen=True)
class Ledger:
    """The ledger of an id.

    Attributes:
        env_id: Id.
        seed, episodes, training: What was measured.
        lines: Strategies by setting.
        notes: Further measurements by name, plain values.
        veilgym: Version of the package.
    """

    env_id: str
    seed: int
    episodes: int
    training: int
    lines: tuple[LedgerLine, ...]
    notes: dict[str, Any]
    veilgym: str = __version__

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain Python values."""
        return asdict(self)

    def to_markdown(self) -> str:
        """The ledger as a page: a table with a column per setting, then the notes."""
        settings = list(dict.fromkeys(line.setting for line in self.lines))
        strategies = list(dict.fromkeys(line.strategy for line in self.lines))
        cells = {(line.setting, line.strategy): _cell(line) for line in self.lines}
        gates = {line.strategy: _gates(self.lines, line.strategy) for line in self.lines}
        rows = [
            f"| {name} | {' | '.join(cells.get((setting, name), '') for setting in settings)} | {gates[name]} |"
            for name in strategies
        ]
        head = f"| strategy | {' | '.join(settings)} | gate |"
        about = (
            f"{self.episodes:,} test instances a setting, classifiers trained on {self.training:,}, seed {self.seed}"
        )
        notes = [f"* {name}: {value}" for name, value in self.notes.items()]
        lines = [
            f"# Shortcut ledger of {self.env_id}",
            "",
            f"Mean score with its 95 % interval: {about}; veilgym {self.veilgym}.",
            f"Regenerate it with `veilgym ledger {self.env_id}`.",
            "",
            head,
            "|" + " --- |" * (len(settings) + 2),
            *rows,
            "",
            *notes,
        ]
        return "\n".join(lines).rstrip() + "\n"


def line_of(
    setting: str, strategy: str, scores: NDArray[np.float64], gate: tuple[str, float] | None = None
) -> LedgerLine:
    """The line of a strategy, from its scores on n instances."""
    return LedgerLine(setting, strategy, float(scores.mean()), score_interval(scores), len(scores), gate)


def read_ledger(path: str | Path) -> Ledger:
    """Read the file that `veilgym ledger` has written.

    Raises:
        ValueError: it cannot be read, or is no ledger.
    """
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Ledger)
    except OSError as error:
        raise ValueError(f"ledger {str(path)!r} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"ledger {str(path)!r} is none that this version has written: {error}") from None


def load_ledger(entry: Entry) -> Callable[..., Ledger]:
    """The function that measures an id's ledger.

    Raises:
        ValueError: the id has none.
    """
    if entry.ledger is None:
        raise ValueError(f"{entry.id} has no shortcut ledger; its shallow strategies are in its ladder (veilgym bench)")
    return cast("Callable[..., Ledger]", load_env_creator(entry.ledger))


def check_arguments(episodes: Any, training: Any, seed: Any) -> None:
    """Raise a `ValueError` if a ledger cannot be measured with these arguments, or if there is no scikit-learn."""
    check_count("episodes", episodes)
    if check_count("training", training) < FEWEST_TRAINING:
        raise ValueError(f"training must be an integer of at least {FEWEST_TRAINING}, got {training}")
    check_seed(seed)
    require_scikit_learn()


def require_scikit_learn() -> None:
    """Raise a `ValueError` that says what to install if there is no scikit-learn."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        message = "the ledger's classifiers need scikit-learn, which the extra veilgym[ledger] installs"
        raise ValueError(f"{message}: pip install 'veilgym[ledger]'") from None


def _cell(line: LedgerLine) -> str:
    interval = "" if line.interval is None else f" ({line.interval[0]:.3f} to {line.interval[1]:.3f})"
    return f"{line.score:.3f}{interval}{'' if line.is_kept else ' **fails**'}"


def _gates(lines: tuple[LedgerLine, ...], strategy: str) -> str:
    gates = dict.fromkeys(
        f"{line.gate[0]} {line.gate[1]:g}" for line in lines if line.strategy == strategy and line.gate is not None
    )
    return ", ".join(gates) or "reported"

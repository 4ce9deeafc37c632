"""The environments of the package: one table from which ids are registered with Gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnasium.envs.registration import register, registry


@dataclass(frozen=True)
class Entry:
    """An id and what it stands for.

    Attributes:
        id: Gymnasium id; the version rises when (id, seed) -> observations or (instance, answer) -> reward changes.
        entry_point, vector_entry_point: "module:class" of the env and of its native vector env; imported when made.
        max_episode_steps: Limit of an episode, None for one-step families.
        reward_threshold: Mean score from which the id counts as solved.
        ladder: "module:function" that makes the `veilgym.agents.ladder.Ladder` for the env's task; imported when used.
        has_length: Whether the env takes an argument `length`.
        ledger: "module:function" that measures the `veilgym.agents.ledger.Ledger` of shortcuts; None if there is none.
        family: What commands call the family, in lower case.
        problems: Module whose `FAMILY` is the `veilgym.envs.core.family.Family`; imported when used.
    """

    id: str
    entry_point: str
    vector_entry_point: str
    max_episode_steps: int | None
    reward_threshold: float
    ladder: str
    family: str
    problems: str
    has_length: bool = False
    ledger: str | None = None


ENTRIES: tuple[Entry, ...] = (
    Entry(
        id="CausalCircuits-v0",
        entry_point="veilgym.envs.causal_circuits.env:CausalCircuitsEnv",
        vector_entry_point="veilgym.envs.causal_circuits.vector_env:CausalCircuitsVectorEnv",
        max_episode_steps=64,
        reward_threshold=0.7,
        ladder="veilgym.agents.causal_circuits.ladder:ladder",
        family="causal-circuits",
        problems="veilgym.envs.causal_circuits.problems",
    ),
    Entry(
        id="HiddenSystem-v0",
        entry_point="veilgym.envs.hidden_system.env:HiddenSystemEnv",
        vector_entry_point="veilgym.envs.hidden_system.vector_env:HiddenSystemVectorEnv",
        max_episode_steps=None,
        reward_threshold=0.95,
        ladder="veilgym.agents.hidden_system.ladder:ladder",
        family="hidden-system",
        problems="veilgym.envs.hidden_system.problems",
        has_length=True,
        ledger="veilgym.agents.hidden_system.ledger:ledger",
    ),
    Entry(
        id="DynamicWorld-v0",
        entry_point="veilgym.envs.dynamic_world.env:DynamicWorldEnv",
        vector_entry_point="veilgym.envs.dynamic_world.vector_env:DynamicWorldVectorEnv",
        max_episode_steps=None,
        reward_threshold=0.95,
        ladder="veilgym.agents.dynamic_world.ladder:ladder",
        family="dynamic-world",
        problems="veilgym.envs.dynamic_world.problems",
        has_length=True,
        ledger="veilgym.agents.dynamic_world.ledger:ledger",
    ),
)


def entry_of(env_id: str) -> Entry:
    """The entry of an id, with or without "veilgym:" before it, or of a family; a `ValueError` lists the ids."""
    for entry in ENTRIES:
        if env_id in (entry.id, f"veilgym:{entry.id}", entry.family):
            return entry
    ids, families = (", ".join(names) for names in zip(*((entry.id, entry.family) for entry in ENTRIES), strict=True))
    raise ValueError(f"id must be one of {ids}, or the name of a family ({families}), got {env_id!r}")


def register_all() -> None:
    """Register every id that is not registered yet."""
    for entry in ENTRIES:
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point=entry.entry_point,
                vector_entry_point=entry.vector_entry_point,
                max_episode_steps=entry.max_episode_steps,
                reward_threshold=entry.reward_threshold,
            )

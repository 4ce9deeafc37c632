"""What a person may see after an episode: the hidden half, in words."""

from __future__ import annotations

from typing import Any

_COMPARISONS = {"EQ": "is", "LE": "is at most", "GT": "is above", "IS_SET": "is set"}
_ACTIONS = {"ADD_RECORD": "adds the record", "INVALIDATE_RECORD": "bars the record for good", "SET_FLAG": "sets a flag"}


def tell_truth(family: str, env: Any, problem: str, seed: int, arguments: dict[str, Any]) -> str:
    """The hidden half of an episode of index 0.

    Args:
        family: The family's slug.
        env: The env that has played it.
        problem: The text of the problem as it was told.
        seed: Of the episode.
        arguments: Of the env.
    """
    tell = {"causal-circuits": _tell_circuit, "hidden-system": _tell_system, "dynamic-world": _tell_world}[family]
    return tell(env, problem, seed, arguments)


def _tell_circuit(env: Any, problem: str, seed: int, arguments: dict[str, Any]) -> str:
    from veilgym.envs.causal_circuits.prose import clamps
    from veilgym.envs.causal_circuits.records import generate_skeletons

    (skeleton,) = generate_skeletons(1, seed, **arguments)
    task = env.unwrapped.task
    lines = [f"  {name} = {value:.4f}" for name, value in skeleton.coefficients.items()]
    targets = [
        f"  {clamps(query)}: "
        + ", ".join(f"{node} = {value:.4f}" for node, value in zip(task.outputs, row, strict=True))
        for query, row in zip(task.prediction_queries, skeleton.targets, strict=True)
    ]
    return "\n".join(["The coefficients were", *lines, "and the values to predict", *targets])


def _tell_system(env: Any, problem: str, seed: int, arguments: dict[str, Any]) -> str:
    from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
    from veilgym.envs.hidden_system.prose import render

    (skeleton,) = generate_skeletons(1, seed=seed, balance="drawn", **arguments)
    names = render(renderer_payload(skeleton), env.get_wrapper_attr("skin")).names
    lines = [
        f"The answer was {skeleton.gold_answer}: "
        f"the record is present with a probability of {skeleton.gold_present_probability:.4f}.",
        "The hidden rules were",
    ]
    for rule in skeleton.hidden_system.rules:
        conditions = [
            f"{names.get(c.key, 'a flag')} {_COMPARISONS[c.operator]}{'' if c.value is None else f' {c.value}'}"
            for c in rule.conditions
        ]
        when = f", if {' and '.join(conditions)}," if conditions else ""
        lines.append(
            f"  {names[rule.on_event]}{when} {_ACTIONS[rule.action]} with a probability of {rule.probability:g}"
        )
    return "\n".join(lines)


def _tell_world(env: Any, problem: str, seed: int, arguments: dict[str, Any]) -> str:
    from veilgym.envs.dynamic_world.generator import generate_worlds
    from veilgym.envs.dynamic_world.task_file import load_task

    given = {name: value for name, value in arguments.items() if name != "split"}
    (world,) = generate_worlds(1, seed=seed, split=arguments["split"], task=load_task(given.pop("task", None), **given))
    lines = problem.split("\n")
    proof = [line for name in world.proof_event_ids for line in lines if name in line]
    return "\n".join(
        [f"The answer was {world.gold_answer}. These entries settle it:", *(f"  {line}" for line in proof)]
    )

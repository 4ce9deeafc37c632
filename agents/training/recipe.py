"""Which algorithm, wrappers, policy and settings an id is trained with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
from gymnasium.vector import VectorEnv

from veilgym.registry import entry_of

if TYPE_CHECKING:
    from veilgym.wrappers.stable_baselines import NativeVecEnv

CIRCUITS = "CausalCircuits-v0"
ALGORITHMS = ("ppo", "dqn", "maskable-ppo", "recurrent-ppo", "sac")
POLICIES = ("encoder", "mlp")
EXPERIMENTS, EVERYTHING, ANSWER = "experiments", "everything", "answer"

# What each algorithm of stable-baselines3 and sb3-contrib can act with.
_ALLOWED = {
    EXPERIMENTS: ("ppo", "dqn", "maskable-ppo", "recurrent-ppo"),
    EVERYTHING: ("ppo", "recurrent-ppo", "sac"),
    ANSWER: ("ppo", "dqn", "maskable-ppo", "recurrent-ppo"),
}
_SPACES = {
    EXPERIMENTS: "chooses one of its experiments (Discrete)",
    EVERYTHING: "chooses experiments and predicts in one Box",
    ANSWER: "gives one of two answers (Discrete)",
}


@dataclass(frozen=True)
class Recipe:
    """What is trained, and on what.

    Attributes:
        env_id: A registered id.
        algo: One of `ALGORITHMS`.
        learn: What the agent learns: "experiments" (an estimator submits) or "everything" for circuits, "answer" for
            the others; None for what `algo` can do.
        policy: "encoder", a network made for the family's observations, or "mlp", a plain one on flat observations.
        estimator: Who submits where the agent learns experiments: "mode", "mean" or "best".
        arguments: For the env, `length` or `task`.

    Raises:
        ValueError: `algo` cannot act in the env, or a field is unknown.
    """

    env_id: str
    algo: str
    learn: str | None = None
    policy: str = "encoder"
    estimator: str = "mode"
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "env_id", entry_of(self.env_id).id)
        _check("algo", self.algo, ALGORITHMS)
        _check("policy", self.policy, POLICIES)
        _check("estimator", self.estimator, ("mode", "mean", "best"))
        is_circuits = self.env_id == CIRCUITS
        default = ANSWER if not is_circuits else EVERYTHING if self.algo == "sac" else EXPERIMENTS
        object.__setattr__(self, "learn", self.learn or default)
        _check("learn", self.learn, (EXPERIMENTS, EVERYTHING) if is_circuits else (ANSWER,))
        allowed = _ALLOWED[str(self.learn)]
        if self.algo not in allowed:
            raise ValueError(
                f"algo {self.algo!r} cannot learn {self.env_id}: an agent that learns {self.learn!r} "
                f"{_SPACES[str(self.learn)]}; allowed are {', '.join(allowed)}"
            )

    @property
    def is_masked(self) -> bool:
        """Whether the algorithm is told what would be accepted."""
        return self.algo == "maskable-ppo"

    @property
    def is_recurrent(self) -> bool:
        """Whether the policy has a memory."""
        return self.algo == "recurrent-ppo"

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain Python values."""
        return asdict(self)

    def algorithm(self) -> Any:
        """The class of stable-baselines3 or sb3-contrib."""
        if self.algo in ("maskable-ppo", "recurrent-ppo"):
            import sb3_contrib

            return {"maskable-ppo": sb3_contrib.MaskablePPO, "recurrent-ppo": sb3_contrib.RecurrentPPO}[self.algo]
        import stable_baselines3

        return {"ppo": stable_baselines3.PPO, "dqn": stable_baselines3.DQN, "sac": stable_baselines3.SAC}[self.algo]

    def policy_name(self) -> str:
        """The name under which the algorithm knows the policy."""
        kind = "Mlp" if self.policy == "mlp" else "MultiInput"
        return f"{kind}LstmPolicy" if self.is_recurrent else f"{kind}Policy"

    def policy_arguments(self) -> dict[str, Any]:
        """`policy_kwargs` of the algorithm."""
        if self.policy == "mlp":
            return {"net_arch": [256, 256]}
        import torch

        # The encoder ends in a hidden layer of its own. Orthogonal weights of gain sqrt(2) saturate what it sums.
        network: dict[str, Any] = {"net_arch": [], "activation_fn": torch.nn.ReLU}
        if self.algo not in ("dqn", "sac"):
            network["ortho_init"] = False
        encoder, arguments = self._encoder()
        return {"features_extractor_class": encoder, "features_extractor_kwargs": arguments, **network}

    def _encoder(self) -> tuple[Any, dict[str, Any]]:
        """The class of the network made for the family, and its arguments."""
        if self.env_id == CIRCUITS:
            from veilgym.agents.causal_circuits.encoder import CircuitEncoder

            return CircuitEncoder, {}
        if self.env_id == "HiddenSystem-v0":
            from veilgym.agents.hidden_system.encoder import SystemEncoder

            return SystemEncoder, {}
        from veilgym.agents.dynamic_world.encoder import WorldEncoder

        env = gym.make(self.env_id, **self.arguments)
        return WorldEncoder, {"rounds": env.unwrapped.task.complexity}  # type: ignore[attr-defined]

    def settings(self) -> dict[str, Any]:
        """Hyperparameters of the algorithm, and `num_envs`."""
        of_family = (_OF_CIRCUITS if self.env_id == CIRCUITS else _OF_QUERIES)[self.algo]
        of_worlds = _WORLDS if self.env_id == "DynamicWorld-v0" and "n_steps" in of_family else {}
        return {**_SETTINGS[self.algo], **of_family, **of_worlds}


# The number of steps of a rollout is num_envs * n_steps.
_ON_POLICY: dict[str, Any] = {"learning_rate": 1e-3, "clip_range": 0.2, "max_grad_norm": 0.5}
_OFF_POLICY: dict[str, Any] = {
    "learning_rate": 5e-4,
    "buffer_size": 200_000,
    "learning_starts": 5_000,
    "batch_size": 512,
    "train_freq": 1,
    "gradient_steps": 2,
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": _ON_POLICY,
    "maskable-ppo": _ON_POLICY,
    "recurrent-ppo": _ON_POLICY,
    "dqn": {**_OFF_POLICY, "target_update_interval": 500, "exploration_fraction": 0.5},
    "sac": _OFF_POLICY,
}
# A circuit's episode has up to nine steps and one reward at its end, which is not discounted.
_ROLLOUT = {"num_envs": 256, "n_steps": 18, "batch_size": 1152, "n_epochs": 4, "gamma": 1.0, "gae_lambda": 0.98}
_OF_CIRCUITS: dict[str, dict[str, Any]] = {
    "ppo": _ROLLOUT,
    "maskable-ppo": {**_ROLLOUT, "ent_coef": 0.003},
    "recurrent-ppo": _ROLLOUT,
    "dqn": {"num_envs": 64, "gamma": 0.99},
    "sac": {"num_envs": 64, "gamma": 0.99},
}
# One step an episode: large batches, since a rollout costs little more than its forward pass.
_QUESTIONS = {"num_envs": 512, "n_steps": 8, "batch_size": 512, "n_epochs": 2, "learning_rate": 2e-3}
_OF_QUERIES: dict[str, dict[str, Any]] = {
    "ppo": _QUESTIONS,
    "maskable-ppo": _QUESTIONS,
    "recurrent-ppo": _QUESTIONS,
    "dqn": {"num_envs": 64, "gamma": 0.0, "buffer_size": 20_000},
}
# An observation of a world is large.
_WORLDS: dict[str, Any] = {"num_envs": 256, "batch_size": 256, "n_epochs": 1, "learning_rate": 1e-2}


def make_envs(recipe: Recipe, num_envs: int, split: str = "train") -> NativeVecEnv:
    """The vector env that the algorithm steps: the native one in the wrappers that the recipe needs."""
    from veilgym.wrappers.discrete_experiments import EstimatorName, VectorDiscreteExperiments
    from veilgym.wrappers.flat_box_action import VectorFlatBoxAction
    from veilgym.wrappers.flatten_payload import VectorFlattenPayload
    from veilgym.wrappers.stable_baselines import NativeVecEnv

    envs: VectorEnv[Any, Any, Any] = gym.make_vec(
        recipe.env_id, num_envs=num_envs, split=split, autoreset_mode="SameStep", **recipe.arguments
    )
    if recipe.learn == EXPERIMENTS:
        envs = VectorDiscreteExperiments(envs, cast("EstimatorName", recipe.estimator))
    if recipe.learn == EVERYTHING:
        envs = VectorFlatBoxAction(envs)
    return NativeVecEnv(VectorFlattenPayload(envs) if recipe.policy == "mlp" else envs)


def falling(start: float) -> Callable[[float], float]:
    """A schedule of stable-baselines3: `start` for the first half, then linearly to 0."""

    def rate(left: float) -> float:
        return start * min(1.0, max(2.0 * left, 0.0))

    return rate


def _check(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")

"""The Gymnasium environment of one causal circuit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.episodes import NO_LIMIT, RUNNING, UNSTARTED, Episodes, Record
from veilgym.envs.causal_circuits.payload import Observation, Payload, action_space, decode, observation_space, observe
from veilgym.envs.causal_circuits.rendering.viewer import render_episode
from veilgym.envs.causal_circuits.request import Refusal, explain_request, read_request
from veilgym.envs.causal_circuits.task import TaskSource, load_task
from veilgym.envs.core.rendering import RENDER_FPS, RENDER_MODES, check_render_mode, warn_of_no_mode
from veilgym.envs.core.seeding import check_seed, check_split


class CausalCircuitsEnv(gym.Env[Observation, dict[str, Any]]):
    """Find out how a hidden circuit works by a few noisy experiments, then predict what it does.

    ## Description
    Four nodes: the roots u and v are 0 unless clamped, x = tanh(bx + wu u + wv v) and y = tanh(by + wx x + yu u + yv
    v). Clamping a node replaces its equation. Biases are uniform on [-0.2, 0.2], weights on [-0.9, 0.9]; they are
    drawn anew for each episode and stay hidden. An experiment clamps one node and reads x and y, each with Gaussian
    noise of standard deviation 0.035. Another circuit, budget, noise or choice of queries is given by `task`; with E
    experiments, Q prediction queries, O outputs, R = initial queries + E rows and J replicates, the shapes are as in
    brackets.

    ## Observation Space
    | key | dtype | shape | range | meaning |
    |---|---|---|---|---|
    | `readouts` | float32 | (52,) [R J O] | -1.245 to 1.245 | x, y by row and replicate, flat; 0 where not measured |
    | `replicates` | int8 | (13,) [R] | 0 to 2 | how often each row has been measured; row 0 is the initial query |
    | `credits` | int32 | (1,) | 0 to 8 | credits left |

    ## Action Space
    `Dict(choice=Discrete(13), prediction=Box(-1, 1, (8, 2), float64))`. A choice of 0 to 11 runs the experiment of that
    index in the task file and ignores `prediction`; 12 submits `prediction` (a row per prediction query, columns x,
    y) and ends the episode. Any finite matrix is accepted, also outside [-1, 1].

    `info["action_mask"]` (int8, (13,)) and `action_masks()` (bool) say what would be accepted. Anything else is
    refused: it costs nothing, changes nothing, earns 0; `info["refusal"]` holds the code of
    `veilgym.envs.causal_circuits.request.Refusal` (0 if accepted) and `info["reason"]` a sentence.

    ## Rewards
    0 until the submission, then 1 / (1 + mean(((prediction - target) / 0.035)**2)), where target holds the noiseless
    outputs: 1 if exact, 0.5 if the root mean square error is one noise standard deviation.

    ## Starting State
    The initial query (u = v = 0) has been measured once. All readouts of an episode are fixed by its seed and index,
    so they depend on neither the order of experiments nor the vector width. `reset(seed=s)` starts sequence s at
    index 0, `reset()` goes on to the next index.

    ## Episode End
    Terminated by an accepted submission. `gym.make` adds a limit of 64 steps, refused requests included (truncated); a
    task with more experiments needs `max_episode_steps`. A wrapper counts them, so reset the env when it says so.

    ## Arguments
    * `task`: a task file's path, a dictionary of the same schema, or None for the default task.
    * `split`: "train" or "test", independent draws from the same distributions.
    * `render_mode`: None, "ansi" (the record as a table), "rgb_array", or "human" through `gym.make`.

    Raises `ValueError` for a bad argument, `gymnasium.error.ResetNeeded` for a step before `reset` or after an answer.

    ## Version History
    * v0: first version, task file 0.2.0.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(self, task: TaskSource = None, split: str = "train", render_mode: str | None = None) -> None:
        self.task = load_task(task)
        self.split = check_split(split)
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = observation_space(self.task)  # type: ignore[assignment]
        self.action_space = action_space(self.task)
        self._episodes = Episodes(self.task, 1, self.split, NO_LIMIT)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the episode of index 0 of `seed`, or the next one of the current sequence; `options` are not used."""
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        if seed is None and self._phase == UNSTARTED:
            seed = int(self.np_random.integers(2**63))
        self._episodes.seed([seed])
        record = self._episodes.begin(np.ones(1, np.bool_))
        return _first(record), self._info(record, Refusal.NONE, None)

    def step(self, action: dict[str, Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Run an experiment or submit the prediction; see the class docstring."""
        self._require_reset("step")
        if self._phase != RUNNING:
            raise ResetNeeded("The episode is over; call env.reset() before the next env.step()")
        reward, terminated, _, refusal, record = self._episodes.advance(*read_request(action, self.task))
        info = self._info(record, int(refusal[0]), action)
        return _first(record), float(reward[0]), bool(terminated[0]), False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """(E + 1,) bool, true where a request would be accepted; a submission needs a finite matrix of its shape."""
        self._require_reset("action_masks")
        mask: NDArray[np.bool_] = self._episodes.action_mask[0].astype(np.bool_)
        return mask

    @property
    def record(self) -> Payload:
        """The public record so far, as its observation has it."""
        self._require_reset("record")
        return decode({key: batch[0] for key, batch in observe(self._episodes.record).items()}, self.task)

    def render(self) -> Any:
        """Return the public record as text or as an image (H, W, 3) uint8; after the end also the targets."""
        if self.render_mode is None:
            warn_of_no_mode()
            return None
        self._require_reset("render")
        return render_episode(self._episodes, 0, self.render_mode)

    @property
    def _phase(self) -> int:
        return int(self._episodes.phase[0])

    def _info(self, record: Record, refusal: int, action: Any) -> dict[str, Any]:
        return {
            "action_mask": record[3][0],
            "refusal": int(refusal),
            "reason": explain_request(refusal, self.task, action, int(record[2][0, 0])),
        }

    def _require_reset(self, method: str) -> None:
        if self._phase == UNSTARTED:
            raise ResetNeeded(f"Cannot call env.{method}() before calling env.reset()")


def _first(record: Record) -> Observation:
    return {key: batch[0] for key, batch in observe(record).items()}

"""A reply in words as the action: what a language model or a person writes, and what they are told in turn."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from veilgym.envs.core.replies import Reason, Unparsed, read_choice
from veilgym.wrappers.text_observation import entry_of_env
from veilgym.wrappers.text_space import ReplySpace

REFUSED = "Refused, at no cost: "


class TextAction(gym.Wrapper[Any, str, Any, Any], RecordConstructorArgs):
    """Takes a reply in words as the action.

    Query families: the reply states one of the two options, see `veilgym.envs.core.replies.read_choice`. Circuits: the
    reply has one JSON object, `{"action_id": ...}` or `{"prediction": [[...], ...]}`, see
    `veilgym.envs.causal_circuits.protocol`; `{"action_id": "observe_initial"}` shows the free readings again.

    What cannot be read or served is refused: it costs nothing and changes nothing, `info["refusal"]` holds a code of
    the env's `Refusal` and `info["reason"]` a sentence that names what is allowed. It counts as a step, as it does
    without this wrapper, and so does `observe_initial`: the limit of steps ends an episode that would go on for ever.
    `info["reply"]` is what to tell the speaker: the new reading and what is left, or why a turn was refused, or the
    score. It is "" after a reset, when the observation says all.

    Args:
        env: An env of this package, wrapped or not, whose action is still its own.

    Raises:
        ValueError: `env` is none of this package, or takes a probability for an answer.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self.action_space = ReplySpace()
        if entry_of_env(env).family == "causal-circuits":
            self._speaker: _Speaker = _CircuitSpeaker(env.unwrapped)
        elif isinstance(env.action_space, spaces.Discrete):
            self._speaker = _QuerySpeaker(env.unwrapped)
        else:
            raise ValueError(f"env must have reward 'accuracy', as replies are options, got actions {env.action_space}")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the env."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "reply": ""}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Read the reply and serve it; see the class docstring."""
        read = self._speaker.read(action)
        refused = isinstance(read, Unparsed)
        observation, reward, terminated, truncated, info = self.env.step(self._speaker.action(read))
        info = dict(info)
        if isinstance(read, Unparsed):
            info["refusal"], info["reason"] = self._speaker.code(read.reason), read.sentence
        elif self._speaker.is_look(read):
            info["refusal"], info["reason"] = 0, ""
        reply = self._speaker.tell(read, float(reward), info["reason"] if refused or info["refusal"] else "")
        if truncated and not terminated:
            reply += "\nThe limit of steps is reached: the episode is over, without an answer."
        info["reply"] = reply
        return observation, reward, terminated, truncated, info


class _Speaker:
    """What a family's env is told, and what it tells. `env` is the innermost one."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def read(self, reply: Any) -> Any:
        """The request in a reply, or an `Unparsed`."""
        raise NotImplementedError

    def action(self, read: Any) -> Any:
        """The env's action for a request; one that it refuses if it need not act."""
        raise NotImplementedError

    def code(self, reason: Reason) -> int:
        """The env's refusal code for a reply that cannot be read."""
        raise NotImplementedError

    def is_look(self, read: Any) -> bool:
        """Whether a request only asks for what is known."""
        return False

    def tell(self, read: Any, reward: float, refusal: str) -> str:
        """What to tell the speaker after the step; `refusal` is the reason for one, or ""."""
        raise NotImplementedError


class _QuerySpeaker(_Speaker):
    def read(self, reply: Any) -> Any:
        return read_choice(reply, self.env.answer_options)

    def action(self, read: Any) -> Any:
        return -1 if isinstance(read, Unparsed) else read.index

    def code(self, reason: Reason) -> int:
        from veilgym.envs.core.answers import Refusal

        return int(Refusal.WRONG_TYPE)

    def tell(self, read: Any, reward: float, refusal: str) -> str:
        if refusal:
            return f"{REFUSED}{refusal}."
        return f"The answer {read.option} is accepted. It is {'right' if reward == 1.0 else 'wrong'}."


class _CircuitSpeaker(_Speaker):
    def __init__(self, env: Any) -> None:
        from veilgym.envs.causal_circuits import protocol

        super().__init__(env)
        self.protocol = protocol
        self.reader = protocol.TurnReader(env.task)
        self.nothing = np.zeros(env.task.prediction_shape)

    def read(self, reply: Any) -> Any:
        return self.reader.read(reply)

    def action(self, read: Any) -> Any:
        if isinstance(read, Unparsed) or read.choice is None:
            return {"choice": -1, "prediction": self.nothing}
        rows = self.nothing if read.prediction is None else np.array(read.prediction)
        return {"choice": read.choice, "prediction": rows}

    def code(self, reason: Reason) -> int:
        from veilgym.envs.causal_circuits.request import Refusal

        codes = {
            Reason.UNKNOWN_REQUEST: Refusal.UNKNOWN_EXPERIMENT,
            Reason.NOT_FINITE: Refusal.NON_FINITE_PREDICTION,
            Reason.WRONG_SHAPE: Refusal.WRONG_SHAPE,
            Reason.TRANSPOSED: Refusal.WRONG_SHAPE,
            Reason.RAGGED: Refusal.WRONG_SHAPE,
        }
        return int(codes.get(reason, Refusal.WRONG_TYPE))

    def is_look(self, read: Any) -> bool:
        return not isinstance(read, Unparsed) and read.choice is None

    def tell(self, read: Any, reward: float, refusal: str) -> str:
        task, record = self.env.task, self.env.record
        left = self.protocol.tell_what_is_left(record, task)
        if refusal:
            return f"{REFUSED}{refusal}.\n{left}"
        if read.choice is None:
            return f"{self.protocol.tell_initial(record, task)}\n{left}"
        if read.choice == task.submit:
            return f"The prediction is accepted. Its score is {reward:.4f}."
        return f"{self.protocol.tell_run(record, task, read.choice)}\n{left}"

"""The ladder of agents for circuit tasks, from chance to the ideal observer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.agent import Agent, generators
from veilgym.agents.causal_circuits.planner import Planner
from veilgym.agents.causal_circuits.prediction import Predictor
from veilgym.agents.ladder import Ladder
from veilgym.envs.causal_circuits.mechanism import terms_of
from veilgym.envs.causal_circuits.task import Task

Observations = dict[str, NDArray[Any]]
Actions = dict[str, NDArray[Any]]


def ladder(task: Task) -> Ladder:
    """The agents for `task`, weakest first; the prior mean is the floor."""
    predictor, planner = Predictor(task), Planner(task)
    design = planner.fixed_design()
    ideal = IdealObserver(task, predictor, planner)
    agents = (
        RandomAgent(task),
        PriorMean(task, predictor),
        RandomExperiments(task, predictor),
        LeastSquares(task, predictor, design),
        FixedDesign(task, predictor, design),
        ideal,
    )
    return Ladder(agents, floor=PriorMean.name, ideal=ideal.name, infer=ideal.submit)


class _CircuitAgent(Agent):
    """Runs the experiment that `choose` names, and submits `predict` once it names none."""

    def __init__(self, task: Task, predictor: Predictor) -> None:
        self.task = task
        self._predictor = predictor

    @abstractmethod
    def choose(self, observations: Observations) -> NDArray[np.int64]:
        """(B,) experiments; E to submit."""

    @abstractmethod
    def predict(self, observations: Observations) -> NDArray[np.float64]:
        """(B, Q, O) predictions."""

    def act_batch(self, observations: Observations) -> Actions:
        choice = self.choose(observations)
        prediction = np.zeros((len(choice), *self.task.prediction_shape))
        submitting = choice == self.task.submit
        if submitting.any():
            prediction[submitting] = self.predict({key: value[submitting] for key, value in observations.items()})
        return {"choice": choice, "prediction": prediction}

    def submit(self, observations: Observations) -> Actions:
        """Submit at once, on the readouts that there are."""
        return {
            "choice": np.full(len(observations["credits"]), self.task.submit),
            "prediction": self.predict(observations),
        }


class RandomAgent(Agent):
    """Uniform over the accepted choices, and a uniform prediction."""

    name = "random"
    description = "an accepted choice at random; the prediction uniform on [-1, 1]"

    def __init__(self, task: Task) -> None:
        self.task = task

    def act_batch(self, observations: Observations) -> Actions:
        affordable = remaining(observations, self.task) > 0
        accepted = np.concatenate([affordable, np.ones((len(affordable), 1), np.bool_)], axis=1)
        rngs = generators(observations, self.name)
        choice = [rng.choice(np.flatnonzero(row)) for rng, row in zip(rngs, accepted, strict=True)]
        prediction = [rng.uniform(-1.0, 1.0, self.task.prediction_shape) for rng in rngs]
        return {"choice": np.array(choice), "prediction": np.array(prediction)}


class PriorMean(_CircuitAgent):
    """The floor: what can be predicted without any readout."""

    name = "prior mean"
    description = "no experiments, no readout used; the mean of the targets under the prior"

    def __init__(self, task: Task, predictor: Predictor) -> None:
        super().__init__(task, predictor)
        rows = len(task.measured_queries)
        nothing = {"readouts": np.zeros((1, rows * len(task.outputs))), "replicates": np.zeros((1, rows))}
        self._prediction = predictor.posterior_mean(nothing)[0]

    def choose(self, observations: Observations) -> NDArray[np.int64]:
        return np.full(len(observations["credits"]), self.task.submit)

    def predict(self, observations: Observations) -> NDArray[np.float64]:
        return np.repeat(self._prediction[None], len(observations["credits"]), axis=0)


class RandomExperiments(_CircuitAgent):
    """Spends the credits at random, then predicts the posterior mean."""

    name = "random experiments"
    description = "measurements on offer drawn one by one without replacement; posterior mean"

    def choose(self, observations: Observations) -> NDArray[np.int64]:
        offered = remaining(observations, self.task)
        choice = np.full(len(offered), self.task.submit)
        rngs = generators(observations, self.name)
        for i in np.flatnonzero(offered.any(axis=1)):
            choice[i] = rngs[i].choice(self.task.submit, p=offered[i] / offered[i].sum())
        return choice

    def predict(self, observations: Observations) -> NDArray[np.float64]:
        return self._predictor.posterior_mean(observations)


class FixedDesign(_CircuitAgent):
    """Runs the design of the highest expected score that looks at no readout; predicts the posterior mean."""

    name = "best fixed design"
    description = "the design of the best expected score that was found, the same in every episode; posterior mean"

    def __init__(self, task: Task, predictor: Predictor, design: NDArray[np.int64]) -> None:
        super().__init__(task, predictor)
        self.design = design

    def choose(self, observations: Observations) -> NDArray[np.int64]:
        missing = observations["replicates"][:, len(self.task.initial_queries) :] < self.design
        return np.where(missing.any(axis=1), missing.argmax(axis=1), self.task.submit)

    def predict(self, observations: Observations) -> NDArray[np.float64]:
        return self._predictor.posterior_mean(observations)


class LeastSquares(FixedDesign):
    """Runs the best fixed design, then predicts from the coefficients that fit best, as if they were certain."""

    name = "least squares"
    description = "the best fixed design; targets of the coefficients that fit best within the prior's bounds"

    def predict(self, observations: Observations) -> NDArray[np.float64]:
        return self._predictor.least_squares(observations)


class IdealObserver(_CircuitAgent):
    """Plans each experiment by the expected score under the current posterior, and submits what maximises it."""

    name = "ideal observer"
    description = "each experiment planned under the current posterior; the submission of highest expected score"

    def __init__(self, task: Task, predictor: Predictor, planner: Planner) -> None:
        super().__init__(task, predictor)
        self._planner = planner

    def choose(self, observations: Observations) -> NDArray[np.int64]:
        return self._planner.next_experiment(observations)

    def predict(self, observations: Observations) -> NDArray[np.float64]:
        return self._predictor.best_submission(observations)


def remaining(observations: Observations, task: Task) -> NDArray[np.int64]:
    """How many runs of each experiment are left, (B, E); 0 where the credits do not suffice for one."""
    costs, limits = terms_of(task)
    unused = limits - observations["replicates"][:, len(task.initial_queries) :]
    return np.where(costs <= observations["credits"], unused, 0)

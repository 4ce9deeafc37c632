"""The Gymnasium environment of one hidden system."""

from __future__ import annotations

from veilgym.envs.core.query_env import QueryEnv
from veilgym.envs.hidden_system.questions import Skeletons, questions_of
from veilgym.envs.hidden_system.task import TaskSource


class HiddenSystemEnv(QueryEnv):
    """Read how often a record was present after small experiments, and say what a new combination favours.

    ## Description
    A hidden program has a rule for each of n events: one adds the record, one sets a flag that nobody sees, a later one
    adds the record or vetoes it for good if the flag is set, and the others add or veto if an attribute has the right
    level. Rules act with hidden probabilities. Shown are the counts of many small experiments: each event alone, each
    ordered pair, and controls. Asked is whether PRESENT or ABSENT is more probable after all n events in the query's
    order, under attributes that no experiment had. Which event does what is drawn anew for each episode.

    n is 4 for "short", 6 for "medium", 8 for "long". There are M = 4 attributes, C = 40, 86 or 148 support cases of up
    to W = 3 events, and 48 trials for each of them up to n = 4, 64 above.

    ## Observation Space
    A `Dict` of flat integer arrays; shapes for "short", with the general ones in brackets.

    | key | dtype | shape | range | meaning |
    |---|---|---|---|---|
    | `events` | int8 | (120,) [C W] | 0 to n | events of the support cases, 1 for the first event; 0 for none |
    | `attributes` | int16 | (160,) [C M] | 0 to 9 | the level of each attribute in each support case |
    | `trials` | int16 | (40,) [C] | 0 to 48 | trials of each case; 0 where there is no case |
    | `present` | int16 | (40,) [C] | 0 to 48 | in how many of them the record was present at the end |
    | `query_events` | int8 | (4,) [n] | 0 to n | events of the query |
    | `query_attributes` | int16 | (4,) [M] | 0 to 9 | the level of each attribute in the query |
    | `levels` | int16 | (8,) [M L] | 0 to 9 | the L = 2 levels that each attribute may have |
    | `options` | int8 | (1,) | 0 to 1 | 0: the options are PRESENT, ABSENT; 1: ABSENT, PRESENT |

    `veilgym.envs.hidden_system.payload.decode(observation, env.layout)` gives the public record, without loss.

    ## Action Space
    `Discrete(2)`: which of the two options. With `reward="brier"` or `"log"` it is `Box(0, 1, (1,), float32)`, the
    probability of PRESENT. Anything else is refused: it costs nothing, changes nothing, earns 0; `info["refusal"]`
    holds the code of `veilgym.envs.core.answers.Refusal` (0 if accepted) and `info["reason"]` a sentence.
    `info["action_mask"]` (int8, (2,), all 1) and `action_masks()` are for agents that want a mask.

    ## Rewards
    1 for the option whose exact probability is above one half, else 0. With `reward="brier"` or `"log"` the exact
    expectation of that score, which has no noise: see `veilgym.envs.core.answers.Proper`.

    ## Starting State
    `reset(seed=s)` asks question 0 of sequence s, `reset()` the next one. A question is a pure function of the task,
    the split, the seed and the index.

    ## Episode End
    Terminated by an accepted answer; never truncated.

    ## Arguments
    * `length`: "short", "medium", "long", or the number of events, 4 to 10; None for what the task says ("short").
    * `trials`, `margin`: replace these fields of the task.
    * `task`: a task file's path, a dictionary of the same schema, or None for the default task.
    * `split`: "train" or "test", independent draws from the same distribution.
    * `shuffle_options`: draw the order of the two options for each question.
    * `reward`: "accuracy", "brier" or "log".
    * `skeletons`: records, or the path of a file with one in each line; questions are drawn from them. With it,
      `length`, `task`, `trials` and `margin` must be None.
    * `render_mode`: None, "ansi" (the counts as a table), "rgb_array", or "human" through `gym.make`.

    Raises `ValueError` for a bad argument, `gymnasium.error.ResetNeeded` for a step before `reset` or after the end.

    ## Version History
    * v0: first version, specification 0.2.
    """

    def __init__(
        self,
        length: str | int | None = None,
        split: str = "train",
        task: TaskSource = None,
        trials: int | None = None,
        margin: float | None = None,
        shuffle_options: bool = False,
        reward: str = "accuracy",
        skeletons: Skeletons | None = None,
        render_mode: str | None = None,
    ) -> None:
        overrides = {"length": length, "trials": trials, "margin": margin}
        questions = questions_of(skeletons, task, overrides, 1, split, shuffle_options)
        super().__init__(questions, reward, render_mode)
        self.layout = questions.layout

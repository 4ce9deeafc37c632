"""The Gymnasium environment of one dynamic world."""

from __future__ import annotations

from veilgym.envs.core.query_env import QueryEnv
from veilgym.envs.dynamic_world.questions import WorldQuestions
from veilgym.envs.dynamic_world.task_file import TaskSource, load_task


class DynamicWorldEnv(QueryEnv):
    """Read the events of a world, and say whether a proposition follows from them.

    ## Description
    A world of N = 128 symbols (56 entities, 48 sets, 8 regions, 16 counters) evolves for T = 1,000 candidate steps, of
    which about 400 happen: entities move, are placed above each other, join sets; sets become subsets of others or
    disjoint from them; counters and flags change. Asked is ABOVE(x, y) or MEMBER(x, A). No event says so: a proof, or a
    refutation, takes k events, and no fewer. ABOVE is transitive and has no cycles; a member of a set is one of every
    superset, and not one of any set that is disjoint from it.

    k is 4 for "short", 6 for "medium", 8 for "long".

    ## Observation Space
    A `Dict` of flat integer arrays. Symbols are numbered by type: entities, sets, regions, counters.

    | key | dtype | shape | meaning |
    |---|---|---|---|
    | `entity_types` | int8 | (128,) [N] | type of each symbol: 0 entity, 1 set, 2 region, 3 counter |
    | `locations` | int32 | (56,) [entities] | the region in which each entity is at first |
    | `values` | int32 | (16,) [counters] | the value of each counter at first |
    | `events` | int32 | (7000,) [7 T] | for each event its time, its form and up to five arguments; 0 after the last |
    | `event_count` | int32 | (1,) | how many events there are |
    | `query` | int32 | (4,) | public family (0 spatial order, 1 membership), both arguments, time |

    The forms are those of `veilgym.envs.dynamic_world.grammar.EVENT_FORMS`.
    `veilgym.envs.dynamic_world.observation.decode(observation, env.task)` gives the public record, without loss.

    ## Action Space
    `Discrete(2)`: 0 for YES, 1 for NO. With `reward="brier"` or `"log"` it is `Box(0, 1, (1,), float32)`, the
    probability of YES. Anything else is refused: it costs nothing, changes nothing, earns 0; `info["refusal"]` holds
    the code of `veilgym.envs.core.answers.Refusal` (0 if accepted) and `info["reason"]` a sentence.
    `info["action_mask"]` (int8, (2,), all 1) and `action_masks()` are for agents that want a mask.

    ## Rewards
    1 for the right answer, else 0. With `reward="brier"` or `"log"`, see `veilgym.envs.core.answers.Proper`; the exact
    probability is 0 or 1.

    ## Starting State
    `reset(seed=s)` asks question 0 of sequence s, `reset()` the next one. A world and its question are a pure function
    of the task, the split, the seed and the index.

    ## Episode End
    Terminated by an accepted answer; never truncated.

    ## Arguments
    * `length`: "short", "medium", "long", or the number of events in a shortest proof, 2 to 99; None for what the task
      says ("short").
    * `entity_count`, `simulation_steps`: replace these fields of the task.
    * `task`: a task file's path, a dictionary of the same schema, or None for the default task.
    * `split`: "train" or "test", independent draws from the same distribution.
    * `reward`: "accuracy", "brier" or "log".
    * `render_mode`: None, "ansi" (the chronicle), "rgb_array", or "human" through `gym.make`.

    Raises `ValueError` for a bad argument, `gymnasium.error.ResetNeeded` for a step before `reset` or after the end.

    ## Version History
    * v0: first version.
    """

    def __init__(
        self,
        length: str | int | None = None,
        entity_count: int | None = None,
        simulation_steps: int | None = None,
        split: str = "train",
        task: TaskSource = None,
        reward: str = "accuracy",
        render_mode: str | None = None,
    ) -> None:
        loaded = load_task(task, length=length, entity_count=entity_count, simulation_steps=simulation_steps)
        super().__init__(WorldQuestions(loaded, 1, split), reward, render_mode)

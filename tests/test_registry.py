"""Guards the ids.

Each is registered once, works in every kind of worker process, has a spec that survives JSON, gives the same bytes in
every interpreter launch, and leaks nothing over many resets.
"""

import dataclasses
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec, registry
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

from veilgym.registry import ENTRIES, Entry, register_all

CONTEXTS = ("spawn", "forkserver")

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
every_context = pytest.mark.parametrize("context", CONTEXTS)


def start(arguments: list[str], cwd: Path, **variables: str) -> "subprocess.Popen[str]":
    """Start a fresh interpreter in which a warning is an error."""
    command = [sys.executable, "-W", "error", *arguments]
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """Return what the process printed."""
    try:
        output, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    return output


def run_script(code: str, folder: Path) -> str:
    """Run code from a file, as worker processes that import the main module need it."""
    (folder / "script.py").write_text(code)
    return finish(start(["script.py"], folder))


def test_each_id_is_one_entry() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(ids) == len(set(ids)) > 0
    assert sorted(id_ for id_, spec in registry.items() if "veilgym" in str(spec.entry_point)) == sorted(ids)


@every_entry
def test_spec_says_what_the_entry_says(entry: Entry) -> None:
    spec = registry[entry.id]
    assert (spec.entry_point, spec.vector_entry_point) == (entry.entry_point, entry.vector_entry_point)
    assert (spec.max_episode_steps, spec.reward_threshold) == (entry.max_episode_steps, entry.reward_threshold)
    assert spec.nondeterministic is False
    assert spec.namespace is None
    assert spec.version is not None
    assert spec.max_episode_steps != 1  # TimeLimit would set truncated as well as terminated.


@every_entry
def test_what_an_entry_names_exists(entry: Entry) -> None:
    names = [value for value in dataclasses.astuple(entry) if ":" in str(value)]
    assert len(names) >= 2
    assert all(callable(pkgutil.resolve_name(name)) for name in names)


def test_registering_again_changes_nothing() -> None:
    before = dict(registry)
    register_all()  # An "Overriding environment" warning is an error here.
    assert list(registry) == list(before)
    assert all(registry[id_] is before[id_] for id_ in before)


@every_entry
def test_prefixed_id_needs_no_import(entry: Entry, tmp_path: Path) -> None:
    code = f"""
import gymnasium as gym
env = gym.make("veilgym:{entry.id}")
observation, _ = env.reset(seed=0)
envs = gym.make_vec("veilgym:{entry.id}", num_envs=2)
envs.reset(seed=0)
print(env.spec.id, observation in env.observation_space, type(envs).__name__)
"""
    vector_class = entry.vector_entry_point.partition(":")[2]
    assert finish(start(["-c", code], tmp_path)) == f"{entry.id} True {vector_class}\n"


ASYNC = """
import gymnasium as gym
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

def wrapped():
    return gym.make("veilgym:{id}")

def bare():
    return wrapped().unwrapped

def rollout(envs):
    seeds = [7, 5, 2**40][: envs.num_envs]
    envs.action_space.seed(1)
    seen = [envs.reset(seed=seeds)] + [envs.step(envs.action_space.sample()) for _ in range(5)]
    envs.close()
    return seen

def main():
    import veilgym
    for mode in gym.make("{id}").metadata["render_modes"]:
        if mode != "human":
            env = gym.make("{id}", render_mode=mode)
            env.reset(seed=0)
            env.render()
    from_spec = rollout(gym.make_vec("{id}", 2, "async", vector_kwargs=dict(context="{context}")))
    from_spec_expected = rollout(gym.make_vec("{id}", 2, "sync"))
    from_functions = rollout(AsyncVectorEnv([wrapped, wrapped, bare], context="{context}"))
    from_functions_expected = rollout(SyncVectorEnv([wrapped, wrapped, bare]))
    print(data_equivalence(from_spec, from_spec_expected), data_equivalence(from_functions, from_functions_expected))

if __name__ == "__main__":
    main()
"""


@every_context
@every_entry
def test_async_vector_env_in_fresh_workers_equals_sync(entry: Entry, context: str, tmp_path: Path) -> None:
    """From a script with a main guard, after the parent has rendered: by bare id, by wrapped env and by bare env."""
    assert run_script(ASYNC.format(id=entry.id, context=context), tmp_path) == "True True\n"


WORKER = """
import multiprocessing
import sys
import gymnasium as gym

def worker(env_id):
    before = "veilgym" in sys.modules
    env = gym.make(env_id)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    return before, env.spec.id

if __name__ == "__main__":
    with multiprocessing.get_context("{context}").Pool(1) as pool:
        print(*pool.apply(worker, ("veilgym:{id}",)))
"""


@every_context
@every_entry
def test_a_worker_that_is_sent_only_a_string_can_make_the_env(entry: Entry, context: str, tmp_path: Path) -> None:
    assert run_script(WORKER.format(id=entry.id, context=context), tmp_path) == f"False {entry.id}\n"


@every_entry
def test_spec_of_an_env_survives_json(entry: Entry) -> None:
    env = gym.make(entry.id, render_mode="ansi")
    spec = EnvSpec.from_json(env.spec.to_json())
    assert spec == env.spec
    again = gym.make(spec)
    assert again.spec == env.spec
    assert again.render_mode == "ansi"
    assert data_equivalence(again.reset(seed=4), env.reset(seed=4))


@pytest.mark.parametrize("mode", [mode.value for mode in AutoresetMode])
@every_entry
def test_spec_of_a_vector_env_survives_json(entry: Entry, mode: str) -> None:
    envs = gym.make_vec(entry.id, num_envs=3, autoreset_mode=mode)
    spec = EnvSpec.from_json(envs.spec.to_json())
    assert spec == envs.spec
    again = gym.make_vec(spec)
    assert (again.num_envs, again.metadata["autoreset_mode"]) == (3, AutoresetMode(mode))
    assert data_equivalence(again.reset(seed=[1, 2, 3]), envs.reset(seed=[1, 2, 3]))


ROLLOUT = """
import hashlib
import gymnasium as gym
import numpy as np

digest = hashlib.sha256()

def update(data):
    # In the order in which the data comes, so that an order taken from a set or from hash() shows.
    if isinstance(data, dict):
        for key, value in data.items():
            update(key)
            update(value)
    elif isinstance(data, (tuple, list)) or (isinstance(data, np.ndarray) and data.dtype == object):
        for value in data:
            update(value)
    else:
        array = np.asarray(data)
        digest.update(f"{{array.dtype}}{{array.shape}}".encode())
        digest.update(array.tobytes())

for env in (gym.make("veilgym:{id}"), gym.make_vec("veilgym:{id}", num_envs=3)):
    env.action_space.seed(11)
    update(env.reset(seed=11))
    for _ in range(100):
        step = env.step(env.action_space.sample())
        update(step)
        if not hasattr(env, "num_envs") and (step[2] or step[3]):
            update(env.reset())
print(digest.hexdigest())
"""


@every_entry
def test_every_interpreter_launch_gives_the_same_bytes(entry: Entry, tmp_path: Path) -> None:
    code = ROLLOUT.format(id=entry.id)
    runs = [start(["-c", code], tmp_path, PYTHONHASHSEED=seed) for seed in ("0", "1", "random")]
    digests = [finish(process).strip() for process in runs]
    assert len(digests[0]) == 64
    assert set(digests) == {digests[0]}


RESETS = """
import os, threading
import gymnasium as gym

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def held():
    return len(os.listdir("/proc/self/fd")), threading.active_count()

env = {make}
for _ in range({resets} // 10):
    env.reset()
memory, handles = rss(), held()
for _ in range({resets}):
    env.reset()
print(rss() - memory < 20e6, held() == handles)
"""
ENVS = (
    'gym.make("veilgym:{id}")',
    *(f'gym.make_vec("veilgym:{{id}}", 4, "{m}")' for m in ("vector_entry_point", "sync")),
)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of a process from Linux's /proc")
@pytest.mark.parametrize("make", ENVS, ids=["env", "native", "sync"])
@every_entry
def test_many_resets_leave_memory_files_and_threads_as_they_were(entry: Entry, make: str, tmp_path: Path) -> None:
    code = RESETS.format(make=make.format(id=entry.id), resets=5_000)
    assert finish(start(["-c", code], tmp_path)) == "True True\n"

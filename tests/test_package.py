"""Guards the packaging, whose root folder is the import package `veilgym`.

What ships equals the tree, from a wheel and from an sdist; an install adds no top-level `envs` to anyone's path and
gets along with a project that has its own; importing is free of work, of side effects and of optional dependencies.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import veilgym
from veilgym.registry import ENTRIES

tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
NOT_SHIPPED = ("tests", "benchmarks", "examples", "docs")
BY_PRODUCTS = ("__pycache__", "build", "dist", "*.egg-info", "*.py[cod]", "*.nb[ci]", ".*")
IDS = [entry.id for entry in ENTRIES]

every_id = pytest.mark.parametrize("env_id", IDS)


def run(code: str, cwd: Path, *flags: str) -> str:
    """Run code in a fresh interpreter in which a warning is an error; return what it printed."""
    command = [sys.executable, "-W", "error", *flags, "-c", code]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_below(folder: Path) -> set[str]:
    """Relative paths of the files below a folder that a person or a build step did not leave there as by-products."""
    skip = shutil.ignore_patterns(*BY_PRODUCTS)
    found = set()
    for path, folders, files in os.walk(folder):
        ignored = skip(path, [*folders, *files])
        folders[:] = [name for name in folders if name not in ignored]
        found |= {(Path(path) / name).relative_to(folder).as_posix() for name in files if name not in ignored}
    return found


def shipped_files(root: Path) -> set[str]:
    """What belongs into the package: Python files and py.typed of the root, and everything in the package folders."""
    in_folders = {name for name in files_below(root) if "/" in name and name.split("/")[0] not in NOT_SHIPPED}
    return in_folders | {path.name for path in root.glob("*.py")} | {"py.typed"}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with an sdist, a wheel built from that sdist and, in `direct/`, a wheel built from the tree."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*BY_PRODUCTS))
    for left_behind in ("envs/__pycache__/a.pyc", "envs/__pycache__/a.nbi", "tests/__pycache__/a.pyc", "tests/a.nbc"):
        (folder / "tree" / left_behind).parent.mkdir(exist_ok=True)
        (folder / "tree" / left_behind).touch()
    for arguments in (["--outdir", "."], ["--wheel", "--outdir", "direct"]):
        command = [sys.executable, "-m", "build", "--no-isolation", *arguments, "tree"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


@pytest.mark.parametrize("origin", [".", "direct"], ids=["wheel-from-sdist", "wheel-from-tree"])
def test_wheel_holds_the_package_folders_and_nothing_else(built: Path, origin: str) -> None:
    with zipfile.ZipFile(only(built / origin, "*.whl")) as wheel:
        names = wheel.namelist()
    metadata = f"veilgym-{veilgym.__version__}.dist-info/"
    shipped = {f"veilgym/{name}" for name in shipped_files(built / "tree")}
    assert {name for name in names if not name.startswith(metadata)} == shipped
    assert {"veilgym/py.typed", metadata + "licenses/LICENSE", metadata + "entry_points.txt"} <= set(names)


def test_sdist_holds_the_tests_and_no_by_products(built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as sdist:
        names = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
    tree = built / "tree"
    outside = {name for name in files_below(tree) if name.split("/")[0] in NOT_SHIPPED}
    assert shipped_files(tree) | outside | {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"} <= names
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|\.nb[ci]$", name)]


def test_packages_are_the_folders_of_the_tree() -> None:
    folders = {Path(name).parent for name in shipped_files(ROOT) if name.endswith(".py")}
    assert sorted(SETTINGS["tool"]["setuptools"]["packages"]) == sorted(
        ".".join(["veilgym", *folder.parts]) for folder in folders
    )
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").is_file()] == []


def test_version_has_one_source() -> None:
    assert "version" not in SETTINGS["project"]
    assert SETTINGS["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "veilgym.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", veilgym.__version__)


def test_a_project_with_folders_of_the_same_names_keeps_them(tmp_path: Path) -> None:
    for name in ("envs", "agents", "wrappers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWNER = 'user'\n")
    (tmp_path / "registry.py").write_text("OWNER = 'user'\n")
    uses = "".join(f"gym.make({env_id!r}).reset(seed=0)\n" for env_id in IDS)
    code = f"import veilgym, gymnasium as gym\n{uses}import envs, agents, wrappers, registry\n"
    code += "print({module.OWNER for module in (envs, agents, wrappers, registry)})"
    assert run(code, tmp_path) == "{'user'}\n"


def test_an_install_leaks_no_top_level_module(tmp_path: Path) -> None:
    names = sorted({name.split("/")[0].removesuffix(".py") for name in shipped_files(ROOT)} - {"__init__", "py.typed"})
    assert {"envs", "agents", "wrappers", "registry"} <= set(names)
    code = f"""
import importlib.util, pathlib, veilgym
root = pathlib.Path(veilgym.__file__).parent
specs = [importlib.util.find_spec(name) for name in {[*names, *NOT_SHIPPED]}]
places = [place for spec in specs if spec for place in (spec.submodule_search_locations or [spec.origin])]
print([place for place in places if root in pathlib.Path(place).parents])
"""
    assert run(code, tmp_path) == "[]\n"


def test_root_imported_again_under_another_name_is_harmless(tmp_path: Path) -> None:
    """Pytest imports the root `__init__.py` a second time, as a module named like the folder of the checkout."""
    code = """
import importlib.util, sys, veilgym
from gymnasium.envs.registration import registry
before = dict(registry)
spec = importlib.util.spec_from_file_location("main", veilgym.__file__, submodule_search_locations=veilgym.__path__)
again = sys.modules["main"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(again)
same = list(before) == list(registry) and all(before[key] is registry[key] for key in before)
print(same, again.register_all is veilgym.register_all)
"""
    assert run(code, tmp_path) == "True True\n"


def test_importing_loads_nothing_but_the_registry(tmp_path: Path) -> None:
    code = """
import sys, gymnasium
before = set(sys.modules)
import veilgym
new = set(sys.modules) - before
print(sorted(name for name in new if name.partition(".")[0] not in sys.stdlib_module_names))
"""
    assert run(code, tmp_path) == "['veilgym', 'veilgym.registry']\n"


def test_nothing_needs_an_extra_or_a_display(tmp_path: Path) -> None:
    """Optional dependencies that are absent, or break when imported, disturb neither registration nor an episode."""
    extras = [name for group in SETTINGS["project"]["optional-dependencies"].values() for name in group]
    optional = {re.split(r"[^\w-]", name)[0].replace("-", "_") for name in extras} - {"veilgym", "setuptools"}
    assert {"matplotlib", "stable_baselines3", "torch"} <= optional
    code = f"""
import os, sys
os.environ.pop("DISPLAY", None)

class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {optional | {"pygame", "ray"}}:
            raise RuntimeError("imported " + name)

sys.meta_path.insert(0, Broken())
import veilgym, gymnasium as gym
for env_id in {IDS}:
    env = gym.make(env_id)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    gym.make_vec(env_id, num_envs=2).reset(seed=0)
"""
    assert run(code, tmp_path) == ""


@every_id
def test_global_random_state_is_left_alone(tmp_path: Path, env_id: str) -> None:
    code = f"""
import random, numpy as np
import gymnasium as gym
random.seed(1), np.random.seed(1)

def state():
    kind, keys, *rest = np.random.get_state()
    return random.getstate(), kind, keys.tobytes(), rest

before = state()
touched = []
def check(stage):
    if state() != before:
        touched.append(stage)

import veilgym; check("import")
env = gym.make({env_id!r}); check("make")
env.reset(seed=3); check("reset with a seed")
env.reset(); check("reset")
env.step(env.action_space.sample()); check("step")
envs = gym.make_vec({env_id!r}, num_envs=2); check("make_vec")
envs.reset(seed=3); check("vector reset")
envs.step(envs.action_space.sample()); check("vector step")
print(touched)
"""
    assert run(code, tmp_path) == "[]\n"


def trajectory(env_id: str, disturb: bool) -> list[bytes]:
    """Observations of three episodes of seed 5, under actions that are the same in each call."""
    env = gym.make(env_id)
    env.action_space.seed(5)
    seen = []
    for episode in range(3):
        observation, _ = env.reset(seed=None if episode else 5)
        over = False
        while not over:
            seen += [np.asarray(value).tobytes() for value in observation.values()]
            if disturb:
                random.random()
                np.random.seed(len(seen))  # noqa: NPY002
                np.random.rand(5)  # noqa: NPY002
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            seen.append(np.float64(reward).tobytes())
            over = terminated or truncated
    return seen


@every_id
def test_global_random_state_has_no_influence(env_id: str) -> None:
    assert trajectory(env_id, disturb=True) == trajectory(env_id, disturb=False)

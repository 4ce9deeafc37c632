"""Checks of arguments that more than one part of the package takes; a wrong one gets a sentence naming it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from veilgym.envs.core.strict_json import JsonError, read_json


def check_count(name: str, value: Any) -> int:
    """Return `value` as a Python int.

    Raises:
        ValueError: `value` is not an integer of at least 1 (a bool counts as none).
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as a Python bool, or raise a `ValueError` if it is not True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def plain_number(value: Any) -> Any:
    """A NumPy number as the Python number it holds; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def read_task_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the JSON object in a task file.

    Raises:
        ValueError: the file cannot be read, is not JSON or holds no object.
    """
    file = Path(path)
    try:
        text = file.read_text("utf-8-sig")  # some editors begin a file with a mark
        document = read_json(text)
    except UnicodeDecodeError:
        raise ValueError(f"task file {str(file)!r} is not JSON: it is not UTF-8") from None
    except JsonError as error:
        reason = str(error).removeprefix("not JSON: ")
        raise ValueError(f"task file {str(file)!r} is not JSON that can be taken: {reason}") from None
    except (OSError, ValueError) as error:  # ValueError: the path holds a null character
        raise ValueError(f"task file {str(file)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    if not isinstance(document, dict):
        raise ValueError(f"task file {str(file)!r} must hold a JSON object, got {type(document).__name__}")
    return document

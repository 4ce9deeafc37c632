"""What the pictures and texts of all families have in common."""

from __future__ import annotations

from typing import Any

from gymnasium import logger
from gymnasium.error import DependencyNotInstalled

RENDER_MODES = ("ansi", "rgb_array")
RENDER_FPS = 2


def check_render_mode(render_mode: Any) -> str | None:
    """Return `render_mode`, or raise a `ValueError` that names it and what is allowed."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        allowed = ", ".join(map(repr, RENDER_MODES))
        raise ValueError(f"render_mode must be None, {allowed}, or 'human' through gymnasium.make, got {render_mode!r}")
    return render_mode  # type: ignore[no-any-return]


def warn_of_no_mode() -> None:
    """Say, as the envs of Gymnasium do, why `render` returns nothing."""
    modes = " or ".join(map(repr, RENDER_MODES))
    logger.warn(f"render() returns None: the env was made without a render mode, such as render_mode={modes}")


def require_matplotlib() -> None:
    """Raise a `DependencyNotInstalled` that says what to install if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise DependencyNotInstalled(
            "render_mode 'rgb_array' needs matplotlib; install it with `pip install 'veilgym[plot]'`"
        ) from error


def printable(text: str) -> str:
    """The text with white space collapsed; characters that a terminal may not show, or may obey, as escapes."""
    return " ".join(text.split()).encode("unicode_escape").decode()


def reward_text(reward: float) -> str:
    """At most four significant digits."""
    return f"{reward:.4g}"

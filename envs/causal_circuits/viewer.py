"""What a person sees of an episode."""

from __future__ import annotations

from typing import Any

from veilgym.envs.causal_circuits.episodes import Episodes

RENDER_MODES = ("ansi", "rgb_array")
RENDER_FPS = 2


def check_render_mode(render_mode: Any) -> str | None:
    """Return `render_mode`, or raise a `ValueError` that names it and what is allowed."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        allowed = ", ".join(map(repr, RENDER_MODES))
        raise ValueError(f"render_mode must be None, {allowed}, or 'human' through gymnasium.make, got {render_mode!r}")
    return render_mode  # type: ignore[no-any-return]


def render_episode(episodes: Episodes, episode: int, render_mode: str) -> Any:
    raise NotImplementedError

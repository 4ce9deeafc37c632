"""Hidden stochastic rule programs: read aggregated histories, say which outcome a new combination favours.

`generate_skeletons` makes complete records, `renderer_payload` their public half; both load the engine when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilgym.envs.hidden_system.payload import renderer_payload
    from veilgym.envs.hidden_system.skeletons import generate_skeletons

__all__ = ["generate_skeletons", "renderer_payload"]


def __getattr__(name: str) -> Any:
    if name == "generate_skeletons":
        from veilgym.envs.hidden_system.skeletons import generate_skeletons

        return generate_skeletons
    if name == "renderer_payload":
        from veilgym.envs.hidden_system.payload import renderer_payload

        return renderer_payload
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

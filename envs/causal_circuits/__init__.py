"""Causal circuits: a few noisy interventions on a hidden nonlinear circuit, then one prediction, scored exactly.

`generate_skeletons` makes complete records, `renderer_payload` their public half, and `score` judges a prediction; they
load the engine when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilgym.envs.causal_circuits.records import generate_skeletons, renderer_payload, score

__all__ = ["generate_skeletons", "renderer_payload", "score"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from veilgym.envs.causal_circuits import records

        return getattr(records, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

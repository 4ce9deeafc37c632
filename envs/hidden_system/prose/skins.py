"""The skins by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from veilgym.envs.hidden_system.prose.notebook import NOTEBOOK
from veilgym.envs.hidden_system.prose.shipping import SHIPPING
from veilgym.envs.hidden_system.prose.skin import Skin
from veilgym.envs.hidden_system.prose.technical import TECHNICAL
from veilgym.envs.hidden_system.prose.ward import WARD

BY_NAME: Final[Mapping[str, Skin]] = MappingProxyType(
    {skin.name: skin for skin in (NOTEBOOK, WARD, SHIPPING, TECHNICAL)}
)
SKINS: Final[tuple[str, ...]] = tuple(BY_NAME)

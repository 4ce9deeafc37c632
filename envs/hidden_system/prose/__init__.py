"""The prose of hidden systems: a payload as a problem in natural language, and the payload that a text tells."""

from veilgym.envs.hidden_system.prose.reading import parse
from veilgym.envs.hidden_system.prose.skin import Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME, SKINS
from veilgym.envs.hidden_system.prose.writing import render

__all__ = ["BY_NAME", "SKINS", "Skin", "parse", "render"]

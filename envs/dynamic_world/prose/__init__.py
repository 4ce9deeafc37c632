"""Dynamic worlds in natural language: a payload told in one of several skins, and a text read back."""

from veilgym.envs.dynamic_world.prose.forms import SKIN_TABLE
from veilgym.envs.dynamic_world.prose.parser import parse
from veilgym.envs.dynamic_world.prose.renderer import SKINS, render

LEXICONS = {name: skin.lexicon for name, skin in SKIN_TABLE.items()}
"""By skin: the words that decide what an entry says."""

__all__ = ["LEXICONS", "SKINS", "parse", "render"]

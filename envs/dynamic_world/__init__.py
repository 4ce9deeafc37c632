"""Dynamic worlds: a long event history, then one YES-or-NO question that takes several steps of reasoning."""

from veilgym.envs.dynamic_world.generator import generate_twins, generate_worlds
from veilgym.envs.dynamic_world.payload import renderer_payload

__all__ = ["generate_twins", "generate_worlds", "renderer_payload"]

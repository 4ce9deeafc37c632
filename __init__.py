"""VeilGym: environments whose mechanism is hidden and whose score is exact. Importing it registers the ids."""

from veilgym.registry import register_all

__version__ = "0.1.0"

register_all()

"""Agents for circuit tasks, from chance to the ideal observer."""

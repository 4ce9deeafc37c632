"""Agents for hidden systems."""

"""Engines: where products with the dictionary are computed, and within which memory."""

from kernelpursuit.engine.engine import Engine, require_finite
from kernelpursuit.engine.memory import free_memory, resolve_budget

__all__ = ["Engine", "free_memory", "require_finite", "resolve_budget"]

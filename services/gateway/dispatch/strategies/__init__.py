"""Strategies, one file each, and which of the wanted ones a dispatch takes."""

from services.gateway.dispatch.strategies.choosing import SERVED, served_strategy, strategy_named
from services.gateway.dispatch.strategies.strategy import Strategy

__all__ = ["SERVED", "Strategy", "served_strategy", "strategy_named"]

"""Readers of traces: iterators of batches of arrays, in bounded memory."""

from __future__ import annotations

from . import lichess, mediawiki
from ._commands import CommandBatch, CommandReader, commands
from ._reader import Batch

__all__ = ["Batch", "CommandBatch", "CommandReader", "commands", "lichess", "mediawiki"]

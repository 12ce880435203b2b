"""zstd, which is an extra before Python 3.14: imported where it is used."""

from __future__ import annotations

import sys
from typing import Any

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAX_WINDOW_LOG = 27  # a window of 128 MiB, which zstd's own tool takes without being told


def import_zstd() -> Any:
    """The module `compression.zstd`; ImportError that says what to install where it is lacking."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        hint = "zstd files need the package backports.zstd: pip install 'goblin-core[zstd]'"
        raise ImportError(hint) from error
    return zstd


def zstd_decoder(zstd: Any) -> Any:
    """A decoder of one frame, of windows that zstd's own tool takes."""
    options = {zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG}
    return zstd.ZstdDecompressor(options=options)

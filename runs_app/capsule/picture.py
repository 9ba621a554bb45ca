"""The waves of a clip as an SVG that needs nothing else: for a file that opens offline."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from runs_app.realtime.pcm import Int16
from runs_app.realtime.record import SAMPLES_PER_MS

WIDTH, HEIGHT, RULER = 900, 70, 22  # px; of one wave and of the ruler below
STEP, BAR = 3, 2
COLOURS = ("#08707e", "#a34a08")  # caller, agent
QUIET = 0.05 * 32_768  # nothing quieter fills the height


def waveform_svg(clip: Int16, *, start_ms: float, at_ms: float) -> str:
    """`clip`: int16 (n, channels) at 24 kHz that begins at `start_ms`; a line stands at `at_ms`."""
    length_ms = len(clip) / SAMPLES_PER_MS
    total = HEIGHT * clip.shape[1] + RULER
    x = (at_ms - start_ms) / max(length_ms, 1) * WIDTH
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" role="img" aria-label="Waveform, '
        f'{start_ms / 1000:.1f} to {(start_ms + length_ms) / 1000:.1f} s">',
        *_waves(clip),
        *_ruler(start_ms, length_ms, total - RULER),
        f'<path d="M{x:.1f} 0V{total - RULER}" stroke="#3b5bdb" stroke-width="2"/></svg>',
    ]
    return "".join(parts)


def _waves(clip: Int16) -> Iterable[str]:
    tops = [_tops(clip[:, channel]) for channel in range(clip.shape[1])]
    loudest = max([QUIET, *(float(side.max(initial=0)) for side in tops)])
    for place, side in enumerate(tops):
        middle = HEIGHT * place + HEIGHT / 2
        half = np.maximum(0.5, side / loudest * HEIGHT * 0.47)
        lines = "".join(f"M{i * STEP + 1} {middle - h:.1f}V{middle + h:.1f}" for i, h in enumerate(half))
        yield f'<path d="{lines}" stroke="{COLOURS[place % 2]}" stroke-width="{BAR}"/>'


def _tops(samples: Int16) -> npt.NDArray[np.float64]:
    """The loudest sample of each bar."""
    edges = np.linspace(0, len(samples), WIDTH // STEP + 1).astype(int)
    loud = np.abs(samples.astype(np.int32))
    return np.array([float(loud[a:b].max(initial=0)) for a, b in pairwise(edges)])


def _ruler(start_ms: float, length_ms: float, top: int) -> Iterable[str]:
    for second in range(int(-(-start_ms // 1000)), int((start_ms + length_ms) // 1000) + 1):
        x = (second * 1000 - start_ms) / max(length_ms, 1) * WIDTH
        yield (
            f'<path d="M{x:.1f} {top}v6" stroke="#696b72"/>'
            f'<text x="{x + 3:.1f}" y="{top + 16}" font-size="12" font-family="sans-serif" fill="#5b5d63">'
            f"{second // 60}:{second % 60:02d}</text>"
        )

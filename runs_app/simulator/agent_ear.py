"""Hears what the simulator's own agent said, as far back as its voices remember.

The ear that understands callers is not taught these sentences: a caller who says something like one of them would be
taken for the agent. They are learnt when somebody asks, so that no conversation waits for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from runs_app.simulator.ear import Ear, Heard, Samples
from runs_app.simulator.voices import AGENT, Voices


@dataclass
class AgentEar:
    voices: Voices
    _ear: Ear = field(default_factory=Ear)
    _known: set[str] = field(default_factory=set)
    _learning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def listen(self, samples: Samples) -> Heard:
        """Of int16 mono samples at 24 kHz. Strangers are not its business."""
        async with self._learning:  # who asks at the same time must not listen before it is learnt
            for phrase in self.voices.said(AGENT):
                if phrase.key not in self._known:
                    await self._ear.learn(phrase.text, phrase.samples)
                    self._known.add(phrase.key)
        return await self._ear.listen(samples, strangers=False)

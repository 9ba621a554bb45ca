"""`POST /v1/responses` asked for a caller's next words: a request whose input holds a scene (persona_scene.py).

The answer is JSON with `say`, `steps`, `hang_up`, `stop` and `why`, from a model that calls itself `sim-persona`.
"""

from __future__ import annotations

import asyncio
import json

from runs_app.simulator.http_reply import HttpReply, Json, json_reply
from runs_app.simulator.persona import next_words
from runs_app.simulator.persona_scene import Scene
from runs_app.simulator.responses_shape import text_response

PERSONA_MODEL = "sim-persona"


async def answer_persona(asked: dict[str, Json], scene: Scene, prompt: str) -> HttpReply:
    # reading who said what takes milliseconds, and the loop serves calls
    words = await asyncio.to_thread(next_words, scene)
    text = json.dumps(words.to_json(), ensure_ascii=False)
    return json_reply(text_response(asked, prompt, text, model=PERSONA_MODEL))

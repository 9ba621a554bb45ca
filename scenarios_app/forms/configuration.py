"""The form of a configuration. What has no field here is kept untouched."""

from __future__ import annotations

from scenarios_app.forms.fields import SlotForm
from scenarios_app.forms.inputs import choice, code, code_line, flag, line, prose
from scenarios_app.forms.slots import JSON, NUMBER, PRESENCE, REFERENCE, TEXT, TEXT_OR_JSON, Slot

PROTOCOL = (("realtime", "Realtime"), ("live", "Live"))
DIALECT = (("", "default: GA"), ("ga", "GA"), ("beta", "beta"))
MODE = (("", "default: text; Live: audio"), ("audio", "audio: spoken"), ("text", "text: typed"))
DETECTION = (
    ("", "default: none"),
    ("none", "none"),
    ("server_vad", "server_vad"),
    ("semantic_vad", "semantic_vad"),
)
CODING = (
    ("", "default: pcm16"),
    ("pcm16", "pcm16, 24 kHz"),
    ("g711_ulaw", "g711_ulaw, 8 kHz"),
    ("g711_alaw", "g711_alaw, 8 kHz"),
)
BACKEND = (
    ("", "default: none"),
    ("direct", "direct: none"),
    ("responses", "responses: a model"),
    ("client", "client: your own"),
)
PACE = (("", "default: real time"), ("true", "real time"), ("false", "as fast as it goes"))
_KEY_HELP = "{{secrets.NAME}}. Empty: a dummy is sent."


class ConfigurationForm(SlotForm):
    slots = (
        Slot("name", ("name",)),
        Slot("protocol", ("protocol",)),
        Slot("endpoint", ("endpoint",)),
        Slot("model", ("model",)),
        Slot("voice", ("voice",)),
        Slot("mode", ("mode",)),
        Slot("dialect", ("dialect",)),
        Slot("headers", ("headers",), JSON),
        Slot("instructions", ("instructions",), TEXT),
        Slot("application", ("application",), REFERENCE),
        Slot("done_tool", ("done_tool",)),
        Slot("tool_rounds", ("tool_rounds",), NUMBER),
        Slot("session_update", ("session_update",), JSON),
        Slot("turn_detection", ("turn_detection",), TEXT_OR_JSON),
        Slot("audio_input", ("audio", "input")),
        Slot("audio_output", ("audio", "output")),
        Slot("chunk_ms", ("audio", "chunk_ms"), NUMBER),
        Slot("real_time", ("audio", "real_time"), JSON),
        Slot("timeout_turn", ("timeouts", "turn"), NUMBER),
        Slot("timeout_connect", ("timeouts", "connect"), NUMBER),
        Slot("timeout_session_ready", ("timeouts", "session_ready"), NUMBER),
        Slot("timeout_response", ("timeouts", "response"), NUMBER),
        Slot("caller_endpoint", ("caller", "endpoint")),
        Slot("caller_model", ("caller", "model")),
        Slot("caller_voice", ("caller", "voice")),
        Slot("caller_api_key", ("caller", "api_key")),
        Slot("caller_condition", ("caller", "condition"), TEXT_OR_JSON),
        Slot("judged", ("judge",), PRESENCE),
        Slot("judge_endpoint", ("judge", "endpoint")),
        Slot("judge_model", ("judge", "model")),
        Slot("judge_api_key", ("judge", "api_key")),
        Slot("judge_reasoning_effort", ("judge", "reasoning_effort")),
        Slot("judge_rubric", ("judge", "rubric")),
        Slot("played", ("persona",), PRESENCE),
        Slot("persona_endpoint", ("persona", "endpoint")),
        Slot("persona_model", ("persona", "model")),
        Slot("persona_api_key", ("persona", "api_key")),
        Slot("backend_mode", ("backend", "mode")),
        Slot("backend_model", ("backend", "model")),
        Slot("backend_endpoint", ("backend", "endpoint")),
        Slot("backend_api_key", ("backend", "api_key")),
        Slot("backend_token", ("backend", "token")),
        Slot("backend_instructions", ("backend", "instructions"), TEXT),
        Slot("backend_reasoning", ("backend", "reasoning")),
        Slot("backend_verbosity", ("backend", "verbosity")),
        Slot("backend_max_output_tokens", ("backend", "max_output_tokens"), NUMBER),
        Slot("price_table", ("price_table",), JSON),
    )
    layout = (
        ("The agent", "", ("name", "protocol", "endpoint", "model", "voice", "mode", "headers")),
        ("Instructions", "", ("instructions",)),
        ("Tools", "", ("application", "done_tool", "tool_rounds")),
        (
            "Who thinks behind the voice",
            "Live always hands tasks on. A Realtime voice calls the tools itself, unless a backend of yours has them.",
            (
                *("backend_mode", "backend_model", "backend_endpoint", "backend_api_key", "backend_token"),
                *("backend_reasoning", "backend_verbosity", "backend_max_output_tokens", "backend_instructions"),
            ),
        ),
        (
            "The caller's voice",
            "The speech service that speaks the caller's words; it has nothing to do with the agent.",
            ("caller_endpoint", "caller_model", "caller_voice", "caller_api_key", "caller_condition"),
        ),
        (
            "The simulated caller",
            "A model that plays the callers of scenarios with a persona; others speak their lines and need none.",
            ("played", "persona_endpoint", "persona_model", "persona_api_key"),
        ),
        (
            "The judge",
            "Without a judge, semantic scores stay empty and deterministic checks alone decide.",
            ("judged", "judge_endpoint", "judge_model", "judge_api_key", "judge_reasoning_effort", "judge_rubric"),
        ),
        ("The call", "", ("real_time", "chunk_ms", "audio_input", "audio_output", "turn_detection")),
        (
            "Time-outs",
            "In seconds; 60s and 500ms are read too.",
            ("timeout_turn", "timeout_connect", "timeout_session_ready", "timeout_response"),
        ),
        ("The session", "For what the fields above do not say.", ("dialect", "session_update")),
        ("Prices", "For estimates of what a run costs.", ("price_table",)),
    )

    name = line("Name", "No comma and no @. It stays for good.")
    protocol = choice("Protocol", PROTOCOL)
    endpoint = code_line("Endpoint", "A ws, wss, http or https URL, or the word simulator.", inputmode="url")
    model = code_line("Model")
    voice = code_line("Agent's voice", "Empty: the server's own.")
    mode = choice("Mode", MODE, "Live is always spoken.")
    dialect = choice("Dialect", DIALECT, "Beta is for servers of other makers: OpenAI switched it off in May 2026.")
    headers = code("Headers", 'Such as {"Authorization": "Bearer {{secrets.OPENAI_API_KEY}}"}.', rows=3)
    instructions = prose(
        "Instructions",
        "The prompt, as the agent gets it. Saving another text makes the next version.",
        rows=18,
        **{"class": "mono code", "spellcheck": "true"},
    )
    application = code_line(
        "Application", "NAME@VERSION, or NAME for the newest. Empty: no tools.", list="known-applications"
    )
    done_tool = code_line("Tool that ends the call", "end_session when not given.")
    tool_rounds = code_line("Tool rounds per turn", "5 when not given.", inputmode="numeric")
    session_update = code("Session update", "A JSON object, merged over everything above.")
    turn_detection = choice("Turn detection", DETECTION)
    audio_input = choice("Audio to the agent", CODING, "G.711 is the sound of a telephone.")
    audio_output = choice("Audio from the agent", CODING)
    chunk_ms = code_line(
        "Chunk, ms", "100 for Realtime (20 with turn detection), 20 for Live, when not given.", inputmode="numeric"
    )
    real_time = choice("Pace", PACE)
    timeout_turn = code_line("Turn", "60 when not given.")
    timeout_connect = code_line("Connect", "As long as a turn when not given.")
    timeout_session_ready = code_line("Session ready", "3 when not given.")
    timeout_response = code_line("Response (Live)", "30 when not given.")
    caller_endpoint = code_line("Endpoint", "An OpenAI-compatible base URL, or simulator.", inputmode="url")
    caller_model = code_line("Speech model")
    caller_voice = code_line("Voice")
    caller_api_key = code_line("API key", _KEY_HELP)
    caller_condition = code_line(
        "Condition of the line",
        'noisy, telephony, realistic ..., or parts such as {"noise_snr_db": 10}. Empty: clean.',
        list="known-conditions",
    )
    judged = flag("A model judges the replies")
    judge_endpoint = code_line("Endpoint", "An OpenAI-compatible base URL, or simulator.", inputmode="url")
    judge_model = code_line("Model")
    judge_api_key = code_line("API key", _KEY_HELP)
    judge_reasoning_effort = code_line("Reasoning effort", "Sent only when given.")
    judge_rubric = code_line("Rubric", "Empty: the current one.")
    played = flag("A model plays simulated callers")
    persona_endpoint = code_line("Endpoint", "An OpenAI-compatible base URL, or simulator.", inputmode="url")
    persona_model = code_line("Model", "Any model that speaks the Responses API; sim-persona at the simulator.")
    persona_api_key = code_line("API key", _KEY_HELP)
    price_table = code(
        "Own prices",
        'US dollars per million tokens, such as {"audio_in": 32, "audio_out": 64, "text_in": 4, "text_out": 16}, or'
        " per_minute. Empty: the price list that comes with the site.",
        rows=3,
    )
    backend_mode = choice("Backend", BACKEND, "Live: responses is a model of the provider, client a backend of yours.")
    backend_model = code_line("Backend's model", "A remote assistant needs none.")
    backend_endpoint = code_line(
        "Backend's endpoint",
        "A Responses API, or a remote assistant (wss). Empty: OpenAI's, or the simulator where the agent is.",
        inputmode="url",
    )
    backend_api_key = code_line("Backend's API key", "{{secrets.NAME}}, for a Responses API of yours.")
    backend_token = code_line("Assistant's token", "{{secrets.NAME}}, for a remote assistant (wss).")
    backend_instructions = prose("Backend's instructions", "Empty: those of the agent.", rows=5)
    backend_reasoning = code_line("Backend's reasoning effort", "Sent only when given.")
    backend_verbosity = code_line("Backend's verbosity", "Sent only when given.")
    backend_max_output_tokens = code_line(
        "Backend's tokens at most", "Of one answer. Sent only when given.", inputmode="numeric"
    )

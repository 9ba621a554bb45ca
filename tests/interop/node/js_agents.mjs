// RealtimeSession of @openai/agents-realtime over its own websocket transport.
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { z } from 'zod';
import { INSTRUCTIONS, KEY, MODEL, RESULT, SENTENCE, finish, mode, report, spoken, url } from './common.mjs';

const book = tool({
  name: 'create_reservation',
  description: 'Book',
  parameters: z.object({ guest_name: z.string(), date: z.string() }),
  execute: async (given) => {
    report.calls.push(given);
    return RESULT;
  },
});
const address = `${url}?model=${MODEL}`;
const transport = new OpenAIRealtimeWebSocket({ url: address, useInsecureApiKey: true });
const session = new RealtimeSession(new RealtimeAgent({ name: 'desk', instructions: INSTRUCTIONS, tools: [book] }), {
  transport,
  tracingDisabled: true,
  config: {
    outputModalities: [mode],
    audio: { input: { turnDetection: null, format: { type: 'audio/pcm', rate: 24000 } } },
  },
});

session.on('error', (error) => report.errors.push(JSON.stringify(error.error ?? error)));
session.on('audio', (event) => (report.audio_bytes += event.data.byteLength));
transport.on('*', (event) => {
  if (/^response\.output_(text|audio_transcript)\.delta$/.test(event.type)) report.text += event.delta;
  if (event.type === 'response.done' && report.text) setImmediate(finish);
});

await session.connect({ apiKey: KEY, url: address });
if (mode === 'audio') {
  const pieces = [...spoken()];
  pieces.forEach((piece, n) => session.sendAudio(new Uint8Array(piece).buffer, { commit: n === pieces.length - 1 }));
  transport.sendEvent({ type: 'response.create' }); // without turn detection a commit asks for nothing
} else {
  session.sendMessage(SENTENCE);
}

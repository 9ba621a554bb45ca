// OpenAIRealtimeVoice of Mastra: MASTRA names the package, "mastra-beta" (0.11, the beta dialect) or "mastra-ga".
import { INSTRUCTIONS, KEY, MODEL, SENTENCE, finish, mode, report, spoken, url } from './common.mjs';

const beta = process.env.MASTRA === 'mastra-beta';
const { OpenAIRealtimeVoice } = await import(process.env.MASTRA);
// The older package makes an empty JSON Schema of a schema of zod 4.
const { z } = await import(beta ? 'zod/v3' : 'zod');
const own = beta ? { apiKey: KEY, url, model: MODEL } : { apiKey: KEY, url, model: MODEL };
const voice = new OpenAIRealtimeVoice(own);

voice.addInstructions(INSTRUCTIONS);
voice.addTools({
  create_reservation: {
    id: 'create_reservation',
    description: 'Book',
    inputSchema: z.object({ guest_name: z.string(), date: z.string() }),
    execute: async (given) => {
      report.calls.push(given.context ?? given);
      return { ok: true };
    },
  },
});
voice.on('error', (error) => report.errors.push(error.error?.message ?? error.message ?? String(error)));
voice.on('writing', (event) => event.role === 'assistant' && (report.text += event.text));
voice.on('speaking', (event) => (report.audio_bytes += event.audio.length));
voice.on('response.done', () => report.text && setImmediate(finish));

await voice.connect();
const manual = beta
  ? { turn_detection: null, modalities: mode === 'text' ? ['text'] : ['text', 'audio'] }
  : { type: 'realtime', output_modalities: [mode], audio: { input: { turn_detection: null } } };
voice.updateConfig(manual);
if (mode === 'audio') {
  for (const piece of spoken()) await voice.send(new Int16Array(new Uint8Array(piece).buffer));
  voice.sendEvent('input_audio_buffer.commit');
} else {
  const content = [{ type: 'input_text', text: SENTENCE }];
  voice.sendEvent('conversation.item.create', { item: { type: 'message', role: 'user', content } });
}
await voice.answer({});

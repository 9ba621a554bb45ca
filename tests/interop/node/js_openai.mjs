// The openai package. It connects by wss alone: start it with NODE_EXTRA_CA_CERTS.
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { INSTRUCTIONS, KEY, MODEL, RESULT, SENTENCE, finish, mode, report, spoken, url } from './common.mjs';

const PCM = { type: 'audio/pcm', rate: 24000 };
const TOOL = {
  type: 'function',
  name: 'create_reservation',
  description: 'Book',
  parameters: {
    type: 'object',
    properties: { guest_name: { type: 'string' }, date: { type: 'string' } },
    required: ['guest_name', 'date'],
  },
};

const client = new OpenAI({ apiKey: KEY, baseURL: url.replace(/^ws/, 'http').replace(/\/realtime$/, '') });
const wire = new OpenAIRealtimeWS({ model: MODEL }, client);
const createItem = (item) => wire.send({ type: 'conversation.item.create', item });

wire.on('error', (error) => report.errors.push(error.message));
wire.on('session.created', () => {
  const audio = { input: { format: PCM, turn_detection: null }, output: { format: PCM } };
  const session = { type: 'realtime', instructions: INSTRUCTIONS, tools: [TOOL], output_modalities: [mode], audio };
  wire.send({ type: 'session.update', session });
  if (mode === 'audio') {
    for (const piece of spoken()) wire.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
    wire.send({ type: 'input_audio_buffer.commit' });
  } else {
    createItem({ type: 'message', role: 'user', content: [{ type: 'input_text', text: SENTENCE }] });
  }
  wire.send({ type: 'response.create' });
});
wire.on('response.output_text.delta', (event) => (report.text += event.delta));
wire.on('response.output_audio_transcript.delta', (event) => (report.text += event.delta));
wire.on('response.output_audio.delta', (event) => (report.audio_bytes += Buffer.from(event.delta, 'base64').length));
wire.on('response.done', (event) => {
  const calls = (event.response.output ?? []).filter((item) => item.type === 'function_call');
  if (!calls.length) finish();
  for (const call of calls) {
    report.calls.push(JSON.parse(call.arguments));
    createItem({ type: 'function_call_output', call_id: call.call_id, output: RESULT });
  }
  wire.send({ type: 'response.create' });
});

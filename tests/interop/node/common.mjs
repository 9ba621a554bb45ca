// What every client here asks for, and the one line that it reports: see ../clients/common.py.
import { readFileSync } from 'node:fs';

export const SENTENCE = 'Book a table for Maya on August 6 at 7 p.m. for two.';
export const INSTRUCTIONS = 'You take bookings for a restaurant.';
export const MODEL = 'gpt-realtime';
export const KEY = 'interop-key';
export const RESULT = '{"ok": true}';
export const CHUNK_BYTES = 4800;

const WAV_HEADER_BYTES = 44;
const PATIENCE_MS = 40_000;

export const [url, mode, wav] = process.argv.slice(2);
export const report = { calls: [], text: '', audio_bytes: 0, errors: [] };

/** The spoken sentence in pieces of 100 ms: 16 bit, mono, 24 kHz. */
export function* spoken() {
  const pcm = readFileSync(wav).subarray(WAV_HEADER_BYTES);
  for (let start = 0; start < pcm.length; start += CHUNK_BYTES) yield pcm.subarray(start, start + CHUNK_BYTES);
}

export function finish() {
  console.log(JSON.stringify(report));
  process.exit(0);
}

setTimeout(() => {
  report.errors.push(`not done within ${PATIENCE_MS} ms`);
  console.log(JSON.stringify(report));
  process.exit(1);
}, PATIENCE_MS);

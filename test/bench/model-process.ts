import { setTimeout as pause } from 'node:timers/promises';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import type { ScriptedReply } from '../model/scripted-reply.ts';

// The model double in a separate process. Its answer is always the same, after the latency given as
// an argument (in ms, 0 by default), unless a message asks for something else: `think for 60 s`, or
// `call write {"path":…}`. Heartbeat tasks find something in one of four runs.

/** The text never varies, so that all bots send the same text. */
const SHORT_ANSWER =
  'Sure: **two things** are on today, the *dentist* at 10:30 and a call with `ops` at 15:00. Shall I move either of them?';
const [latency = '0'] = process.argv.slice(2);
let beats = 0;
const double = await startModelDouble({ latencyMs: Number(latency), reply: createReply });
process.on('disconnect', () => void double.close());
process.send?.({ result: { baseUrl: double.baseUrl } });

async function createReply({ messages }: ChatRequest): Promise<ScriptedReply> {
  const last = messages.at(-1);
  const asked = getMessageText(last);
  if (last?.role === 'tool') return SHORT_ANSWER;
  const seconds = /think for (\d+) s/.exec(asked)?.[1];
  if (seconds !== undefined) await pause(Number(seconds) * 1_000, undefined, { ref: false });
  if (asked.includes('standing task is due')) {
    beats += 1;
    return beats % 4 === 0 ? `The bank wrote for the ${beats}. time.` : 'HEARTBEAT_OK';
  }
  const [, name, input] = /call (\w+) (\{.*\})/.exec(asked) ?? [];
  if (name === undefined || input === undefined) return SHORT_ANSWER;
  return { toolCalls: [{ name, arguments: JSON.parse(input) }] };
}

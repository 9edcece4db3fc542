import { setTimeout as pause } from 'node:timers/promises';
import { textOf } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { SHORT_ANSWER } from './sample-answer.ts';

// The model double in a process of its own: it always answers the same, after the latency that is
// given as an argument (in ms, by default at once), or after so long as a message asks for.

const [latency = '0'] = process.argv.slice(2);
const double = await startModelDouble({
  latencyMs: Number(latency),
  reply: async ({ messages }) => {
    const asked = /think for (\d+) s/.exec(textOf(messages.at(-1)))?.[1];
    if (asked !== undefined) await pause(Number(asked) * 1_000, undefined, { ref: false });
    return SHORT_ANSWER;
  },
});
process.on('disconnect', () => void double.close());
process.send?.({ result: { baseUrl: double.baseUrl } });

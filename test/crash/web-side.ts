import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Side } from './side.ts';
import { ask } from './words.ts';

const Instance = z.object({ address: z.string() });
const History = z.object({
  entries: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('inbound') }),
      z.object({ type: z.literal('part'), partId: z.string(), text: z.string() }),
    ]),
  ),
});

const TRY_AGAIN_MS = 50;
const PATIENCE_MS = 3_000;

/**
 * Several tabs on the web page of a data folder. Each sends one question after the other and repeats
 * it under the same id until it is told that it is stored, as the page does.
 */
export function openWebSide(folder: string, tabs: number): Side {
  const closing = new AbortController();
  const waiting = new Map<number, number[]>();
  const parts = new Map<string, string>();
  let asked = 0;
  const sendAll = async (sender: number): Promise<void> => {
    const queue = waiting.get(sender) ?? [];
    for (let number = queue[0]; number !== undefined; number = queue[0]) {
      await sendUntilStored(folder, sender, number, closing.signal);
      if (closing.signal.aborted) return;
      queue.shift();
    }
  };
  return {
    channel: 'web',
    settings: {},
    askAll() {
      asked += 1;
      for (let sender = 1; sender <= tabs; sender += 1) {
        const queue = waiting.get(sender) ?? [];
        waiting.set(sender, queue);
        queue.push(asked);
        // Otherwise it is still at an earlier one, and comes to this one by itself.
        if (queue.length === 1) void sendAll(sender);
      }
    },
    handedOver: () => [...waiting.values()].every((queue) => queue.length === 0),
    async look() {
      // The history ends at 200 entries, so what earlier looks saw is kept.
      for (const [id, text] of await readParts(folder)) parts.set(id, text);
      const senders = Array.from({ length: tabs }, (_, index) => [index + 1, asked] as const);
      return [{ chatId: 'main', asked: new Map(senders), texts: [...parts.values()] }];
    },
    close: async () => closing.abort(),
  };
}

async function sendUntilStored(
  folder: string,
  sender: number,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({
    id: `tab-${sender}-${number}-question`,
    text: ask({ sender, number }),
  });
  while (!signal.aborted) {
    try {
      const answer = await request(folder, 'messages', { method: 'POST', body });
      if (answer.ok) return;
    } catch {
      // Nobody is there at the moment, or died while answering.
    }
    await sleep(TRY_AGAIN_MS);
  }
}

async function readParts(folder: string): Promise<[id: string, text: string][]> {
  const answer = await request(folder, 'history', {});
  const { entries } = History.parse(await answer.json());
  return entries.flatMap((entry) => (entry.type === 'part' ? [[entry.partId, entry.text]] : []));
}

/** The files are read each time: a new life has a new port. Throws when nobody can be reached. */
function request(folder: string, path: string, init: RequestInit): Promise<Response> {
  const { address } = Instance.parse(
    JSON.parse(readFileSync(join(folder, 'gateway.json'), 'utf8')),
  );
  const token = readFileSync(join(folder, 'token'), 'utf8').trim();
  return fetch(`${address}/channels/web/default/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readGatewayAddress } from './gateway-address.ts';
import { type CrashSide, listSenders } from './side.ts';
import { formatQuestion, type Question } from './words.ts';

const History = z.object({
  entries: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('inbound') }),
      z.object({ type: z.literal('part'), partId: z.string(), text: z.string() }),
    ]),
  ),
});

const FIRST_SENDER = 40_001;
const RETRY_DELAY_MS = 50;
const TIMEOUT_MS = 3_000;
/**
 * The history contains at most 200 entries, so it is read at this interval, and entries seen before
 * are kept.
 */
const READ_INTERVAL_MS = 1_000;

/**
 * Several tabs of the web page, connected to any gateway that responds. Each tab sends its
 * questions one after another, and repeats a question under the same id until it is confirmed as
 * stored, as the page does.
 */
export function openWebSide(folders: readonly string[], tabs: number): CrashSide {
  const closing = new AbortController();
  const { signal } = closing;
  const senders = listSenders(FIRST_SENDER, tabs);
  const waiting = new Map(senders.map((sender) => [sender, [] as Question[]]));
  const parts = new Map<string, string>();
  const read = async (): Promise<void> => {
    for (const [id, text] of await readParts(folders)) parts.set(id, text);
  };
  const sendAll = async (queue: Question[]): Promise<void> => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      await sendUntilStored(folders, next, signal);
      if (signal.aborted) return;
      queue.shift();
    }
  };
  const keepReading = async (): Promise<void> => {
    while (!signal.aborted) {
      // No gateway may be running at the moment.
      await read().catch(() => undefined);
      await sleep(READ_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  const reading = keepReading();
  return {
    channel: 'web',
    settings: {},
    senders,
    ask(question) {
      const queue = waiting.get(question.sender) ?? [];
      queue.push(question);
      // Otherwise `sendAll` is still sending an earlier question and continues with this one by
      // itself.
      if (queue.length === 1) void sendAll(queue);
    },
    allDelivered: () => [...waiting.values()].every((queue) => queue.length === 0),
    async look() {
      await read();
      return [{ chatId: 'main', senders, texts: [...parts.values()] }];
    },
    async close() {
      closing.abort();
      await reading;
    },
  };
}

async function sendUntilStored(
  folders: readonly string[],
  question: Question,
  signal: AbortSignal,
): Promise<void> {
  const { sender, number } = question;
  const body = JSON.stringify({
    id: `tab-${sender}-${number}-question`,
    text: formatQuestion(question),
  });
  while (!signal.aborted) {
    try {
      const answer = await sendRequest(folders, 'messages', { method: 'POST', body });
      if (answer.ok) return;
    } catch {
      // No gateway is running at the moment, or it died while responding.
    }
    await sleep(RETRY_DELAY_MS);
  }
}

async function readParts(folders: readonly string[]): Promise<[id: string, text: string][]> {
  const answer = await sendRequest(folders, 'history', {});
  const { entries } = History.parse(await answer.json());
  return entries.flatMap((entry) => (entry.type === 'part' ? [[entry.partId, entry.text]] : []));
}

/** The first gateway that accepts the request. Throws when no gateway accepts it. */
async function sendRequest(
  folders: readonly string[],
  path: string,
  init: RequestInit,
): Promise<Response> {
  const failures: unknown[] = [];
  for (const folder of folders) {
    try {
      const answer = await sendRequestTo(folder, path, init);
      if (answer.ok) return answer;
      failures.push(`${folder} answers ${answer.status}`);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, 'No gateway takes it');
}

/** Throws when no gateway can be reached. */
async function sendRequestTo(folder: string, path: string, init: RequestInit): Promise<Response> {
  const address = readGatewayAddress(folder);
  const token = readFileSync(join(folder, 'token'), 'utf8').trim();
  return fetch(`${address}/channels/web/default/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { TestParley } from './parley-here.ts';

const History = z.object({
  entries: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('inbound'), text: z.string(), outcome: z.string().nullable() }),
      z.object({ type: z.literal('part'), text: z.string() }),
    ]),
  ),
});

/** A client of the web page's protocol that does not need a page. */
export interface WebClient {
  /** Posts a message; `body` replaces the JSON for bad input. */
  post(text: string, body?: string | Uint8Array): Promise<{ status: number; body: string }>;
  /** `> ` and the question, or the answer as HTML; oldest first. */
  history(): Promise<readonly string[]>;
  get(path: string): Promise<{ status: number; body: string }>;
}

/** Talks to the web channel of a running Parley with its token. */
export function createWebClient({
  address,
  token,
}: Pick<TestParley, 'address' | 'token'>): WebClient {
  const headers = { authorization: `Bearer ${token}` };
  const get = async (path: string) => {
    const response = await fetch(`${address}${path}`, { headers });
    return { status: response.status, body: await response.text() };
  };
  return {
    get,
    async post(text, body = JSON.stringify({ id: randomUUID(), text })) {
      const response = await fetch(`${address}/channels/web/default/messages`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
      return { status: response.status, body: await response.text() };
    },
    async history() {
      const { body } = await get('/channels/web/default/history');
      const { entries } = History.parse(JSON.parse(body));
      return entries.map((entry) => (entry.type === 'inbound' ? `> ${entry.text}` : entry.text));
    },
  };
}

import { type InboundMessage, type Logger, memoryValues } from '@parley/core';
import type { ChannelAdapter, HistoryEntry, IngressOutcome } from '../../adapter.ts';
import { COMMANDS } from '../../ingress/command.ts';
import { createWebAdapter } from '../adapter.ts';
import { WEB } from '../front.ts';

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

/** A web front over an ingress that a test decides. */
interface WebFrontScene {
  readonly adapter: ChannelAdapter;
  readonly received: InboundMessage[];
  /** Asks a route below `/channels/web/default`. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a message as the page does. */
  post(message: unknown): Promise<Response>;
}

/** Makes a front; `receive` says what becomes of a message, `history` what was said before. */
export function webFront(
  receive: (message: InboundMessage) => Promise<IngressOutcome> | IngressOutcome,
  history: readonly HistoryEntry[] = [],
): WebFrontScene {
  const received: InboundMessage[] = [];
  const context = {
    account: 'default',
    settings: {},
    log: silent,
    clock: Date.now,
    holdsAccount: () => true,
    revise: () => Promise.resolve(),
    commands: COMMANDS,
    values: memoryValues(),
    receive: async (message: InboundMessage) => {
      received.push(message);
      return receive(message);
    },
    report: () => undefined,
    history: async () => history,
  };
  const adapter = createWebAdapter(context, WEB);
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    if (!adapter.http) throw new Error('The web front has lost its routes.');
    return adapter.http.fetch(new Request(`http://127.0.0.1/channels/web/default${path}`, init));
  };
  const post = (message: unknown) =>
    ask('/messages', { method: 'POST', body: JSON.stringify(message) });
  return { adapter, received, ask, post };
}

/** Reads server-sent events until `count` have come; "alive" counts as well. */
export async function readEvents(
  response: Response,
  count: number,
): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) events.push(JSON.parse(block.replace(/^data: /, '')));
    if (events.length >= count) break;
  }
  return events;
}

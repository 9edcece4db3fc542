import type { Logger } from '@parley/contracts';
import { type McpCatalogue, NOTHING } from './catalogue/catalogue.ts';

/** How one server is doing. */
export type McpState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'waiting'; readonly reason: string; readonly nextAttemptAt: number }
  | { readonly kind: 'closed' };

/** A server, how it is doing, and what it offers now: nothing unless it is connected. */
export interface McpServerView extends McpCatalogue {
  readonly name: string;
  readonly state: McpState;
}

/** Where it is kept how one server is doing; it tells of changes, not of attempts. */
export interface ServerBoard {
  /** The same object as long as nothing has changed. */
  view(): McpServerView;
  connected(offer: McpCatalogue): void;
  /** `wait` in ms from `now`. */
  waiting(reason: string, now: number, wait: number): void;
  closed(): void;
}

/** Of what is left out; a server must not fill the log. */
const MOST_TOLD = 20;

/** A board that says "connecting" to begin with. */
export function createBoard(
  name: string,
  log: Logger,
  onOffer?: (server: string, tools: McpCatalogue['tools']) => void,
): ServerBoard {
  let view: McpServerView = { name, state: { kind: 'connecting' }, ...NOTHING };
  let told = '';
  const show = (state: McpState, offer: McpCatalogue = NOTHING): boolean => {
    const next: McpServerView = { name, state, ...offer };
    const isNew = JSON.stringify(next) !== JSON.stringify(view);
    if (isNew) view = next;
    return isNew;
  };
  return {
    view: () => view,
    connected(offer) {
      if (!show({ kind: 'connected' }, offer)) return;
      told = '';
      const { tools, prompts, refused } = offer;
      onOffer?.(name, tools);
      const facts = { server: name, tools: tools.length, prompts: prompts.length };
      log.info(facts, 'MCP server: connected');
      if (refused.length === 0) return;
      const left = refused.slice(0, MOST_TOLD).map(({ what, reason }) => `${what}: ${reason}`);
      const words = 'MCP server: some of what it offers was left out';
      log.warn({ server: name, total: refused.length, left }, words);
    },
    waiting(reason, now, wait) {
      show({ kind: 'waiting', reason, nextAttemptAt: now + wait });
      const facts = { server: name, reason, retryInMs: wait };
      if (reason === told) log.debug(facts, 'MCP server: still not there');
      else log.warn(facts, 'MCP server: not connected; its tools are gone until it is');
      told = reason;
    },
    closed: () => void show({ kind: 'closed' }),
  };
}

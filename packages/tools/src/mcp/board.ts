import type { Logger } from '@parley/core';
import { type McpCatalog, type McpRemark, NOTHING } from './catalogue.ts';

/** The state of one server. */
export type McpState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly nextAttemptAt: number;
      /** The server is not contacted again until a person has signed in. */
      readonly needsSignIn?: true;
    }
  | { readonly kind: 'closed' };

/** A server, its state, and its current offer, which is empty unless it is connected. */
export interface McpServerView extends McpCatalog {
  readonly name: string;
  readonly state: McpState;
}

/** The maximum number of problems that are logged, so that a server cannot fill the log. */
const MAX_LOGGED = 20;

/**
 * Tracks the state of one server, initially "connecting"; logs and reports changes, not attempts.
 */
export function createServerStatusTracker(
  name: string,
  log: Logger,
  onOffer?: (server: string, tools: McpCatalog['tools']) => void,
) {
  let view: McpServerView = { name, state: { kind: 'connecting' }, ...NOTHING };
  let reported = '';
  const show = (state: McpState, offer: McpCatalog = NOTHING): boolean => {
    const next: McpServerView = { name, state, ...offer };
    const isNew = JSON.stringify(next) !== JSON.stringify(view);
    if (isNew) view = next;
    return isNew;
  };
  const report = (remarks: readonly McpRemark[], message: string): void => {
    if (remarks.length === 0) return;
    const left = remarks.slice(0, MAX_LOGGED).map(({ what, reason }) => `${what}: ${reason}`);
    log.warn({ server: name, total: remarks.length, left }, message);
  };
  return {
    view: () => view,
    connected(offer: McpCatalog): void {
      if (!show({ kind: 'connected' }, offer)) return;
      reported = '';
      const { tools, prompts, refused, changed } = offer;
      onOffer?.(name, tools);
      const facts = { server: name, tools: tools.length, prompts: prompts.length };
      log.info(facts, 'MCP server: connected');
      report(refused, 'MCP server: some of its tools or prompts were left out');
      report(changed, 'MCP server: some of its tools or prompts were changed');
    },
    /** `wait` is in ms from `now`. */
    waiting(why: { reason: string; needsSignIn: boolean }, now: number, wait: number): void {
      const { reason, needsSignIn } = why;
      const signIn = needsSignIn && { needsSignIn };
      show({ kind: 'waiting', reason, nextAttemptAt: now + wait, ...signIn });
      const facts = { server: name, reason, retryInMs: wait };
      if (reason === reported) log.debug(facts, 'MCP server: still not connected');
      else log.warn(facts, 'MCP server: not connected; its tools are unavailable');
      reported = reason;
    },
    closed: () => void show({ kind: 'closed' }),
  };
}

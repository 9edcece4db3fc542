import type { Situation } from '@parley/channels';
import type { Clock, LiveBus, Logger } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import { type WakeUpQueue, wakeDeliveryOn } from '@parley/queue';
import type { RunningProcess, Store } from '@parley/store';
import type { Hono } from 'hono';
import { type AppEnv, mayAs } from './access.ts';
import { type AgentsPage, agentNameOf } from './agent-routes.ts';
import type { QueueReport } from './api.ts';
import { type ApiServices, uncachedRoutes } from './api-routes.ts';
import { conversationRoutes, searchRoutes } from './conversation-routes.ts';
import { approvalRoutes } from './decision-routes.ts';

/** What the routes look at that work on the database. */
export interface Work {
  readonly store: Store;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scrub: Scrub;
  /** Which models there are. */
  readonly situation: (agent: string | undefined) => Situation;
  readonly agents?: AgentsPage | undefined;
}

/** Routes on the database. They show private text: guard them. */
export function addWorkRoutes(app: Hono<AppEnv>, work: Work, page: ApiServices['approvals']): void {
  const { store, turns, bus, clock, scrub, agents } = work;
  const nameOf = (conversationId: string) => agentNameOf(agents, conversationId);
  const deliver = wakeDeliveryOn(bus);
  app.route('/api/queue', queueRoutes(store, clock));
  app.route('/api/conversations', conversationRoutes(work));
  app.route('/api/search', searchRoutes(work));
  const wakeLane = (lane: string) => turns.kick(lane);
  app.route(
    '/api/approvals',
    approvalRoutes({ store, clock, scrub, nameOf, wake: wakeLane, deliver, page }),
  );
}

/** What waits, runs and is still to be sent, and what failed (U03), below `/api/queue`. Owners alone see the chats. */
export function queueRoutes(store: QueueStore, clock: Clock): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const report = await lookAtQueue(store, clock());
    return c.json(mayAs(c, 'owner') ? report : withoutChats(report));
  });
  return app;
}

/** Conversations by their account alone: `telegram:default`. */
function withoutChats(report: QueueReport): QueueReport {
  const accountOnly = <One extends { readonly conversationId: string }>(one: One): One => ({
    ...one,
    conversationId: one.conversationId.split(':').slice(0, 2).join(':'),
  });
  const { waiting, running } = report;
  return { ...report, waiting: waiting.map(accountOnly), running: running.map(accountOnly) };
}

type QueueStore = Pick<Store, 'backlog' | 'outbox' | 'deadLetters' | 'processes'>;

/** Entries of each list; the totals show whether there are more. */
const SHOWN = 50;

async function lookAtQueue(store: QueueStore, now: number): Promise<QueueReport> {
  const [backlog, parts, dead, processes] = await Promise.all([
    store.backlog.look(SHOWN),
    store.outbox.counts(),
    store.deadLetters.counts(),
    store.processes.list(),
  ]);
  const names = new Map(processes.map((process) => [process.id, nameOf(process)]));
  // A process that has the database to itself is not in the list.
  const other = processes.length === 0 ? 'this process' : 'a process that is gone';
  const running = backlog.running.map((turn) => ({
    ...turn,
    owner: turn.owner === null ? null : (names.get(processOf(turn.owner)) ?? other),
  }));
  const shown = processes.slice(0, SHOWN).map(({ id: _id, ...process }) => process);
  return { now, ...backlog, running, parts, dead, processes: shown };
}

/** A process whose settings have changed has another worker, named by a number behind its own name. */
function processOf(owner: string): string {
  return owner.replace(/\/\d+$/, '');
}

function nameOf({ host, pid }: RunningProcess): string {
  return `process ${pid} on ${host}`;
}

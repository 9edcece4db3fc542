import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InboundMessage, type ReplyRoute, recordingLogger } from '@parley/contracts';
import { type ClaimedTurn, openStore, type Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { createHeartbeat, type Heartbeat } from '../heartbeat/heartbeat.ts';
import type { FindTarget } from '../heartbeat/order.ts';
import type { HeartbeatDeps } from '../heartbeat/run.ts';

/** For tests: a heartbeat over a real database and workspace, at a time that the test sets. */
export interface HeartbeatScene {
  readonly store: Store;
  readonly heartbeat: Heartbeat;
  readonly woken: string[];
  readonly delivered: string[];
  readonly lines: readonly string[];
  /** What the clock shows, in ms. */
  now(): number;
  /** Puts the clock to a moment. */
  at(iso: string): void;
  /** Moves the clock on, or back. */
  later(minutes: number): void;
  /** Puts a file into the workspace. */
  put(name: string, text: string): void;
  /** Reads a file of the workspace. */
  got(name: string): string;
  /** The turn that waits in the lane of the heartbeat, ended quietly; null when none does. */
  run(tokens?: number): Promise<ClaimedTurn | null>;
  /** Another process with the same database and workspace. */
  twin(): Heartbeat;
  close(): Promise<void>;
}

const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
/** Where the owner writes, in these tests. */
const OWNERS_LAST: InboundMessage = {
  ...PLACE,
  messageId: 'm1',
  chat: { id: 'c', type: 'direct' },
  sender: { id: '1', name: 'Ann', isBot: false },
  text: 'hello',
  mentions: [],
  addressed: true,
  sentAt: 0,
  variables: {},
};
const ROUTE: ReplyRoute = { ...PLACE, chatId: 'c', chatType: 'direct', target: TARGET };

const toOwner: FindTarget = async () => ({
  kind: 'chat',
  conversationId: 'test:default:c',
  route: ROUTE,
  last: OWNERS_LAST,
  isOwners: true,
});

/** Opens a scene at 10:00 in Berlin on 21 November 2026, beating every 30 minutes. */
export async function openHeartbeatScene(
  change: Partial<Pick<HeartbeatDeps, 'findTarget' | 'checkForNews' | 'settings' | 'clock'>> = {},
): Promise<HeartbeatScene> {
  let now = Date.parse('2026-11-21T09:00:00Z');
  const clock = () => now;
  const root = mkdtempSync(join(tmpdir(), 'parley-heartbeat-'));
  const { folder, for: viewOf } = await openWorkspace({ folder: join(root, 'w'), templates: root });
  const store = await openStore({ url: 'sqlite::memory:', clock });
  const { log, lines } = recordingLogger();
  const woken: string[] = [];
  const delivered: string[] = [];
  let turns = 0;
  const make = (): Heartbeat =>
    createHeartbeat({
      store,
      agent: { id: 'main', timeZone: 'Europe/Berlin' },
      view: viewOf({ kind: 'owner', conversationId: 'test:default:c' }),
      settings: { enabled: true, everyMinutes: 30, tokensPerDay: 1_000 },
      findTarget: toOwner,
      wake: async (lane) => void woken.push(lane),
      deliver: async ({ chatId }) => void delivered.push(chatId),
      clock,
      log,
      ...change,
    });
  return {
    store,
    heartbeat: make(),
    woken,
    delivered,
    lines,
    now: clock,
    at: (iso) => {
      now = Date.parse(iso);
    },
    later: (minutes) => {
      now += minutes * 60_000;
    },
    put: (name, text) => writeFileSync(join(folder, name), text),
    got: (name) => readFileSync(join(folder, name), 'utf8'),
    run(tokens = 10) {
      turns += 1;
      return endRun(store, { turnId: `turn-${turns}`, now, tokens });
    },
    twin: make,
    async close() {
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

interface EndingRun {
  readonly turnId: string;
  readonly now: number;
  readonly tokens: number;
}

async function endRun(
  store: Store,
  { turnId: newTurnId, now, tokens }: EndingRun,
): Promise<ClaimedTurn | null> {
  const held = await store.lanes.acquire('beat:main', 'w', now, 1_000);
  if (held.kind === 'busy') throw new Error('the lane is busy');
  const claimed = await store.lanes.claim(held.lease, 'collect', newTurnId, now);
  if (claimed.kind === 'turn') {
    const { turnId, messages } = claimed.turn;
    const usage = { model: 'm', inputTokens: tokens, outputTokens: 0, costUsd: null };
    const commit = { turnId, outcome: 'silent', entries: [], parts: [], usage } as const;
    const id = messages[0]?.message.messageId ?? '';
    await store.heartbeats.commit(held.lease, { id, commit, state: 'quiet', reason: null }, now);
  }
  await store.lanes.release(held.lease);
  return claimed.kind === 'turn' ? claimed.turn : null;
}

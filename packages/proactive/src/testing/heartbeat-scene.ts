import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { InboundMessage, ReplyRoute } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { ClaimedTurn, Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { openWorkspace } from '@parley/workspace';
import type { FindAlertTarget } from '../alerts.ts';
import { Heartbeat } from '../heartbeat/heartbeat.ts';
import type { HeartbeatServices } from '../heartbeat/services.ts';

export type HeartbeatScene = Awaited<ReturnType<typeof openHeartbeatScene>>;

const PLACE = { channel: 'test', account: 'default' } as const;
const TARGET = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
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

const toOwner: FindAlertTarget = async () => ({
  kind: 'chat',
  conversationId: 'test:default:c',
  route: ROUTE,
  last: OWNERS_LAST,
  isOwners: true,
});

/** Opens a scene at 10:00 in Berlin on 21 November 2026, with a heartbeat every 30 minutes. */
export async function openHeartbeatScene(
  change: Partial<
    Pick<HeartbeatServices, 'agent' | 'findTarget' | 'checkForNews' | 'settings' | 'clock'>
  > = {},
) {
  let now = Date.parse('2026-11-21T09:00:00Z');
  const clock = () => now;
  const root = mkdtempSync(join(tmpdir(), 'parley-heartbeat-'));
  const { folder, for: viewOf } = await openWorkspace({ folder: join(root, 'w'), templates: root });
  const store = await openMemoryStore({ clock });
  const { log, lines } = createRecordingLogger();
  const woken: string[] = [];
  const delivered: string[] = [];
  let turns = 0;
  const make = (): Heartbeat =>
    new Heartbeat({
      store,
      agent: { id: 'main', timeZone: 'Europe/Berlin' },
      view: viewOf({ kind: 'owner', conversationId: 'test:default:c' }),
      settings: { enabled: true, everyMinutes: 30, tokensPerDay: 1_000, quietHours: 'off' },
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
    at: (iso: string) => {
      now = Date.parse(iso);
    },
    later: (minutes: number) => {
      now += minutes * 60_000;
    },
    put: (name: string, text: string) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    },
    ownerWrites: (text: string) => {
      const message = { ...OWNERS_LAST, text, messageId: text };
      const conversationId = 'test:default:c';
      return store.inbox.accept({ conversationId, message, route: ROUTE, receivedAt: now });
    },
    got: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /**
     * Ends the turn that waits in the heartbeat's lane with a quiet answer; returns null if no turn
     * waits.
     */
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

interface EndRunOptions {
  readonly turnId: string;
  readonly now: number;
  readonly tokens: number;
}

async function endRun(
  store: Store,
  { turnId: newTurnId, now, tokens }: EndRunOptions,
): Promise<ClaimedTurn | null> {
  const work = { conversationId: 'beat:main', owner: 'w', leaseMs: 1_000 };
  const begun = await store.lanes.begin(work, 'collect', newTurnId, now);
  if (begun.kind !== 'turn') return null;
  const { turnId, messages } = begun.turn;
  const usage = { model: 'm', inputTokens: tokens, outputTokens: 0, costUsd: null };
  const commit = { turnId, outcome: 'silent', entries: [], parts: [], usage } as const;
  const id = messages[0]?.message.messageId ?? '';
  await store.heartbeats.commit(begun.lease, { id, commit, state: 'quiet', reason: null }, now);
  await store.lanes.release(begun.lease);
  return begun.turn;
}

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { HeartbeatRunRequest, HeartbeatRunResult } from './heartbeat-runs.ts';
import type { ClaimedTurn, Lease } from './rows.ts';
import type { Store } from './store.ts';
import { listBothDatabases } from './testing/databases.ts';
import { createAnswer, createMessage, createPart } from './testing/messages.ts';

/** How many times each concurrent loop runs. */
const ROUNDS = 60;
const CHATS = ['c1', 'c2', 'c3'];
const AGENTS = ['main', 'second'];
const LANES = [...CHATS.map((chat) => `web:${chat}`), ...AGENTS.map((agent) => `beat:${agent}`)];

// SQLite is left out, because it allows only one writer at a time.
for (const database of listBothDatabases(inject('postgresUrl')).slice(1)) {
  describe.runIf(database.available)(`writers of many lanes on ${database.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());

    it('[D02] [H01] never deadlock while heartbeats start and end, messages arrive, turns run, and leases are taken and renewed', {
      timeout: 60_000,
    }, async () => {
      let made = 0;
      const held = new Map<string, Lease>();
      const newId = (prefix: string): string => {
        made += 1;
        return `${prefix}${made}`;
      };
      const chat = (): string => CHATS[(made * 7) % CHATS.length] ?? '';

      const begin = (agent: string) => async () => {
        const order = orderOf(newId('b'), agent, chat());
        await store.heartbeats.start(order, null, Date.now());
      };
      const endTurn = async (turn: ClaimedTurn, lease: Lease): Promise<unknown> => {
        if (!turn.conversationId.startsWith('beat:')) {
          return store.lanes.commit(lease, createAnswer(turn.turnId, ['x']), Date.now());
        }
        const id = turn.messages[0]?.message.messageId ?? '';
        return store.heartbeats.commit(lease, alerting(id, turn.turnId), Date.now());
      };
      const work = (owner: string) => async () => {
        const conversationId = LANES[(made * 3) % LANES.length] ?? '';
        // Half of the leases expire immediately and are acquired by another worker before the first
        // one has noticed.
        const leaseMs = made % 2 === 0 ? 0 : 1_000;
        const lane = { conversationId, owner, leaseMs };
        const started = await store.lanes.begin(lane, 'collect', newId('t'), Date.now());
        if (started.kind !== 'turn') return;
        held.set(conversationId, started.lease);
        await endTurn(started.turn, started.lease);
        await store.lanes.release(started.lease);
      };
      const renew = (all: (leases: Lease[]) => Lease[]) => async () => {
        await store.lanes.renew(all([...held.values()]), 1_000);
      };
      const accept = async () => void (await store.inbox.accept(createMessage(newId('m'), chat())));
      const stop = async () => {
        await store.inbox.command(createMessage(newId('m'), chat()), (command) => command.stop());
      };
      const loops = [
        ...AGENTS.flatMap((agent) => [begin(agent), begin(agent)]),
        ...['w1', 'w2', 'w1', 'w2'].map(work),
        renew((leases) => leases),
        renew((leases) => leases.toReversed()),
        accept,
        stop,
        async () => void (await store.heartbeats.release(Date.now())),
      ];
      const over = await Promise.allSettled(loops.map((once) => repeat(once)));
      const failures = over.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(failures).toEqual([]);
    });
  });
}

async function repeat(once: () => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await once();
    // Yields to the other loops when there is no work.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function orderOf(id: string, agent: string, chatId: string): HeartbeatRunRequest {
  const lane = `beat:${agent}`;
  const asked = createMessage(id, chatId);
  const inLane = { ...asked.message, chat: { id: lane, type: 'direct' as const } };
  return {
    id,
    agent,
    task: 'mail',
    target: `web:${chatId}`,
    message: { ...asked, conversationId: lane, message: { ...inLane, trigger: 'heartbeat' } },
  };
}

/** The alert is either sent immediately or held until `release` sends it. */
function alerting(id: string, turnId: string): HeartbeatRunResult {
  const isHeld = id.length % 2 === 0;
  return {
    id,
    commit: createAnswer(turnId, []),
    state: 'alerted',
    reason: null,
    alert: {
      text: 'a',
      fingerprint: 'f',
      entry: { role: 'assistant', content: 'a' },
      parts: [createPart('a')],
      ...(isHeld && { heldUntil: Date.now() + 5 }),
    },
  };
}

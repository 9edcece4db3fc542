import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReplayServices, replayRecordedTurn } from '@parley/agent/replay';
import { openStore, type Store } from '@parley/store';
import { Client } from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import {
  KINDS,
  openReplayWorld,
  type ReplayWorld,
  type WorldOptions,
} from '../../packages/agent/src/testing/replay-world.ts';
import { decideAsOwner, OWNER_CHAT } from '../../packages/agent/src/testing/write-message.ts';
import { createFreshDatabase } from '../services/fresh-database.ts';

const OPTIONS: WorldOptions = {
  layout: 'parley',
  provider: 'openai-compatible',
  agent: undefined,
  contextTokens: 100_000,
  summarizes: true,
  seed: 1,
};

const postgresUrl = inject('postgresUrl');

let world: ReplayWorld;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  await world.close();
  for (const end of ends.splice(0)) await end();
});

const replay = (turnId: string, more: Partial<ReplayServices> = {}, asks = false) =>
  replayRecordedTurn(
    { ...world.services, ...more },
    turnId,
    { model: asks ? world.model : null },
    AbortSignal.timeout(30_000),
  );

const lastTurn = (): string => world.runs.at(-1)?.turnId ?? '';

/** One hash for the names and contents of all files. */
function hashFolder(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    // SQLite notes its readers in shared memory.
    if (name.endsWith('.db-shm')) continue;
    hash.update(name);
    if (statSync(join(folder, name)).isFile()) hash.update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

interface OpenedDatabase {
  readonly open: NonNullable<WorldOptions['openStore']>;
  /** One hash for everything in the database. */
  readonly hash: () => Promise<string>;
}

async function openSqliteFile(): Promise<OpenedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-replay-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, 'parley.db')}`;
  return { open: (clock) => openStore({ url, clock }), hash: async () => hashFolder(folder) };
}

async function openPostgres(): Promise<OpenedDatabase> {
  const { url, drop } = await createFreshDatabase(postgresUrl ?? '');
  ends.push(drop);
  const hash = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    const tables = await client.query(
      "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
    );
    const hashes: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query(
        `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as hash from ${name} as t`,
      );
      hashes.push(`${name} ${rows[0].hash}`);
    }
    await client.end();
    return hashes.join('\n');
  };
  return { open: (clock) => openStore({ url, clock }), hash };
}

describe.each([
  ['SQLite', openSqliteFile, true],
  ['PostgreSQL', openPostgres, postgresUrl !== null],
] as const)('replays on %s', (_name, openDatabase, available) => {
  it.runIf(available)(
    '[G22] write nothing to the database or the workspace, whether or not they ask a model',
    { timeout: 120_000 },
    async () => {
      const database = await openDatabase();
      world = await openReplayWorld({ ...OPTIONS, openStore: database.open });
      for (const run of Object.values(KINDS)) await run(world, 1);
      world.server.replay();
      const before = [await database.hash(), hashFolder(world.scene.folder)];
      const outcomes = [];
      for (const { turnId, what } of world.runs) {
        for (const asks of [false, true]) {
          const outcome = await replay(turnId, {}, asks);
          outcomes.push([what, asks, outcome?.kind]);
        }
      }
      expect(outcomes).toEqual(outcomes.map(([what, asks]) => [what, asks, 'same']));
      expect(outcomes.length).toBeGreaterThan(30);
      expect([await database.hash(), hashFolder(world.scene.folder)]).toEqual(before);
    },
  );
});

describe('a replay without what it needs', () => {
  const ask = (text: string) => world.ask('plain', text, [{ text: 'Noted.' }]);

  it('[G22] is incomplete once its prompt is no longer kept', async () => {
    world = await openReplayWorld(OPTIONS);
    await ask('Hello');
    const forever = Number.POSITIVE_INFINITY;
    const others = { messages: forever, history: forever, decisions: forever, spend: forever };
    const now = world.scene.now() + 8 * 24 * 60 * 60_000;
    const pace = { clock: () => now, countFrom: now, pause: async () => true };
    const ages = { ...others, prompts: 7 * 24 * 60 * 60_000 };
    await world.scene.store.retention.run({ ages, bytes: forever }, pace);
    const outcome = await replay(lastTurn());
    expect(outcome).toMatchObject({ kind: 'incomplete', missing: 'record', question: 'Hello' });
  });

  it('[G22] is incomplete once a file is gone, and never sends a guess', async () => {
    world = await openReplayWorld(OPTIONS);
    await KINDS.picture?.(world, 1);
    await world.scene.store.attachments.forget(world.scene.now() + 1, world.scene.now());
    const outcome = await replay(lastTurn(), {}, true);
    expect(outcome).toMatchObject({ kind: 'incomplete', missing: 'files' });
    expect(world.server.bodies).toHaveLength(1);
  });

  it('[G22] is incomplete once a text was forgotten in its history', async () => {
    world = await openReplayWorld(OPTIONS);
    await ask('My code is canary-4711.');
    await ask('Thank you.');
    await world.scene.store.forgetting.forget({
      conversations: [OWNER_CHAT],
      ownersToo: true,
      phrases: ['canary-4711'],
    });
    const outcome = await replay(lastTurn());
    expect(outcome).toMatchObject({ kind: 'incomplete', missing: 'forgotten' });
    expect(JSON.stringify(outcome)).not.toContain('canary');
  });

  it('[G22] is incomplete if the settings name other owners', async () => {
    world = await openReplayWorld(OPTIONS);
    await ask('Hello');
    expect(await replay(lastTurn(), { owners: [] })).toMatchObject({ missing: 'settings' });
  });

  it('[G22] is incomplete if a message before it is not what it was', async () => {
    world = await openReplayWorld(OPTIONS);
    await ask('First.');
    await ask('Second.');
    const { recordedTurns, ...store } = world.scene.store;
    const past: typeof recordedTurns.past = async (...of) => {
      const found = await recordedTurns.past(...of);
      return { ...found, entries: found.entries.slice(1) };
    };
    const outcome = await replay(lastTurn(), {
      store: { ...store, recordedTurns: { ...recordedTurns, past } },
    });
    expect(outcome).toMatchObject({ kind: 'incomplete', missing: 'history' });
  });

  it('[G22] finds nothing of a turn that never was', async () => {
    world = await openReplayWorld(OPTIONS);
    expect(await replay('turn-none')).toBeNull();
  });
});

describe('a replay of a turn that waited for an approval', () => {
  it('[G22] sends its recorded first request, and says that the later ones may differ', async () => {
    world = await openReplayWorld(OPTIONS);
    const asks = { name: 'asks', arguments: '{"word":"a"}' };
    await world.ask('waits', 'Do it.', [{ calls: [asks] }, { text: 'Done.' }]);
    await decideAsOwner(world.scene.store, 'approved');
    await world.run('resumed', OWNER_CHAT);
    const [first, second] = world.runs;
    expect(second?.turnId).toBe(first?.turnId);
    world.server.replay();
    world.server.forget();
    const outcome = await replay(lastTurn(), {}, true);
    expect(world.server.bodies[0]).toBe(first?.bodies[0]);
    expect(outcome).toMatchObject({ resumed: true, before: { text: 'Done.', calls: [asks] } });
    const { at: _, ...plain } = (await replay(lastTurn())) ?? { at: 0 };
    expect(plain).toMatchObject({ kind: 'same', resumed: true });
  });
});

describe('a replay without an end', () => {
  it('[G22] fails at its deadline', async () => {
    world = await openReplayWorld(OPTIONS);
    await world.ask('plain', 'Hello', [{ text: 'Hi.' }]);
    const over = AbortSignal.abort(new Error('over'));
    const outcome = await replayRecordedTurn(
      world.services,
      lastTurn(),
      { model: world.model },
      over,
    );
    expect(outcome).toMatchObject({ kind: 'failed', code: 'replay-time-up' });
  });
});

describe('a replay under other limits than those that applied', () => {
  it('[G22] finds where the history began from the recorded hashes', {
    timeout: 60_000,
  }, async () => {
    world = await openReplayWorld({ ...OPTIONS, summarizes: false, contextTokens: 6_000 });
    for (let nth = 0; nth < 14; nth += 1)
      await world.ask('plain', `Question ${nth} ${'and so on '.repeat(60)}`, [{ text: 'Noted.' }]);
    expect(world.server.bodies.at(-1)).toContain('cannot be shown');
    const roomy = { contextTokens: () => 1_000_000 };
    const [dry, asked] = [await replay(lastTurn(), roomy), world.runs.at(-1)?.bodies];
    expect(dry).toMatchObject({ kind: 'same' });
    world.server.replay();
    world.server.forget();
    await replay(lastTurn(), roomy, true);
    expect(world.server.bodies).toEqual(asked);
  });
});

describe('a replay of an answer that arrived only in part', () => {
  it('[G22] reads the history as the turn did, before and after the failure was known', async () => {
    world = await openReplayWorld(OPTIONS);
    const { store } = world.scene;
    await world.ask('plain', 'First?', [{ text: 'One.' }]);
    await world.ask('plain', 'Second?', [{ text: 'Two.' }]);
    await failAnswers(store, world.scene.now());
    await world.ask('plain', 'Third?', [{ text: 'Three.' }]);
    expect(world.server.bodies.at(-1)).toContain('Part of your last answer');
    for (const { turnId } of world.runs) expect((await replay(turnId))?.kind).toBe('same');
  });
});

/** Fails every part that the owner's chat still waits for. */
async function failAnswers({ outbox }: Store, now: number): Promise<void> {
  const chat = { channel: 'test', account: 'default', chatId: OWNER_CHAT };
  for (let due = await outbox.next(chat); due !== null; due = await outbox.next(chat)) {
    await outbox.markSending(due.part.id, now);
    await outbox.markFailed(due.part.id, 'failed', 'the chat is gone', now, null);
  }
}

describe('the store of a replay', () => {
  it('[G22] has no outbox, no inbox and nothing to write with, by type', () => {
    const check = (store: ReplayServices['store']): void => {
      // @ts-expect-error There is no outbox.
      void store.outbox;
      // @ts-expect-error There is no inbox.
      void store.inbox;
      // @ts-expect-error Prompts are read, not recorded.
      void store.prompts.record;
      // @ts-expect-error Files are read, not kept.
      void store.attachments.keepText;
      // @ts-expect-error There is no journal to append to.
      void store.turns;
    };
    expect(check).toBeTypeOf('function');
  });

  it('[G22] is all that replays get: there is no workspace, and nothing to deliver with', () => {
    const check = (services: ReplayServices): void => {
      // @ts-expect-error There is no workspace.
      void services.workspace;
      // @ts-expect-error There is nothing to deliver with.
      void services.deliver;
      // @ts-expect-error There is nobody to wake.
      void services.wake;
    };
    expect(check).toBeTypeOf('function');
  });
});

import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from './open-store.ts';
import type { RunningProcess } from './processes.ts';
import { bothDatabases } from './testing/databases.ts';

const DAY_MS = 24 * 60 * 60_000;

function running(id: string, startedAt = 0): RunningProcess {
  const address = 'http://127.0.0.1:7411';
  const facts = { agent: 'main', workspace: 'w1', settings: { owners: 'ab' }, clockAheadMs: -3 };
  return { id, role: 'gateway', host: 'here', pid: 7, address, version: '0.1.0', startedAt, facts };
}

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`the processes on ${database.name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await database.openEmpty();
    });
    afterAll(() => database.dispose());
    const ids = async (since: number) => (await store.processes.list(since)).map(({ id }) => id);

    it('[D09] are those that were heard of lately, the oldest first', async () => {
      await store.processes.heartbeat(running('b', 20), 20);
      await store.processes.heartbeat(running('a', 10), 10);
      await store.processes.heartbeat(running('a', 10), 30);
      expect(await store.processes.list(20)).toEqual([running('a', 10), running('b', 20)]);
      expect(await ids(30)).toEqual(['a']);
    });

    it('[D10] hear what time it is for the database', async () => {
      const before = Date.now();
      const beat = await store.processes.heartbeat(running('a'), 0);
      const times = [await store.processes.time(), beat.kind === 'noted' ? beat.time : 0];
      for (const time of times) {
        expect(time).toBeGreaterThan(before - 1_000);
        expect(time).toBeLessThan(Date.now() + 1_000);
      }
    });

    it('[D09] are gone when they say so, or after a day', async () => {
      await store.processes.heartbeat(running('a'), 0);
      await store.processes.heartbeat(running('b'), 0);
      await store.processes.leave('a');
      expect(await ids(0)).toEqual(['b']);
      await store.processes.heartbeat(running('c'), DAY_MS + 1);
      expect(await ids(0)).toEqual(['c']);
    });
  });
}

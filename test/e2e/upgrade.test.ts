import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { makeDataFolder, runCommand, startParleyProcess } from './parley-process.ts';

const postgresUrl = inject('postgresUrl');
const redisUrl = inject('redisUrl');

describe.runIf(postgresUrl && redisUrl)(
  'a process whose database was upgraded by a newer Parley',
  () => {
    it('[D09] shuts down gracefully, and refuses to start until it is upgraded, too', async () => {
      const database = await createFreshDatabase(postgresUrl ?? '');
      const folder = makeDataFolder({
        model: 'offline',
        http: { port: 0 },
        store: { url: database.url },
        queue: { url: redisUrl, prefix: `parley-${randomUUID().slice(0, 8)}` },
      });
      const running = await startParleyProcess(folder.path);
      try {
        const newer = new Client({ connectionString: database.url });
        await newer.connect();
        await newer.query("insert into parley_migration values (9999, 'future', '7.3.0', 0)");
        await newer.end();
        const ended = await running.over();
        expect(ended).toMatchObject({
          code: 1,
          out: expect.stringContaining('Parley 7.3.0 has upgraded the database'),
        });
        const again = await runCommand(['--data', folder.path, 'start']);
        expect(again).toMatchObject({
          code: 1,
          err: expect.stringContaining('Nothing was changed'),
        });
      } finally {
        await running.end('SIGKILL');
        folder.remove();
        await database.drop();
      }
    });
  },
);

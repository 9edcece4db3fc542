import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { openStore } from './open-store.ts';
import { createSqliteForTests } from './testing/databases.ts';
import { createMessage, createTestRoute } from './testing/messages.ts';

const database = createSqliteForTests();
afterAll(() => database.dispose());

/** A script that accepts messages forever and prints the id of each accepted message. */
const GATEWAY = `
  const { openStore } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url))});
  const store = await openStore({ url: process.argv[1], clock: () => 0 });
  const template = JSON.parse(process.argv[2]);
  for (let group = 0; ; group += 1) {
    await Promise.all(Array.from({ length: 5 }, async (_, place) => {
      const messageId = 'm' + (group * 5 + place);
      await store.inbox.accept({ ...template, message: { ...template.message, messageId } });
      process.stdout.write(messageId + '\\n');
    }));
  }
`;

it('[D01] keeps every accepted message when the process is killed', async () => {
  await (await database.openEmpty()).close();
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      GATEWAY,
      database.url(),
      JSON.stringify(createMessage('template')),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const accepted: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    accepted.push(line);
    if (accepted.length === 200) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');

  const store = await openStore({ url: database.url(), clock: () => 0 });
  const rows = await store.inbox.recent(createTestRoute('c1'), 100_000);
  const stored = new Set(rows.map((row) => row.message.messageId));
  expect(accepted.length).toBeGreaterThanOrEqual(200);
  expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
  await store.close();
});

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type AdmittedMessage, openStore } from '@parley/store';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

const OLD = 600;
const DAY = 24 * 60 * 60_000;

let folder: DataFolder;
let parley: TestParley;
beforeEach(async () => {
  folder = makeDataFolder({
    model: 'offline',
    http: { port: 0 },
    retention: { messageDays: 20, everyMinutes: 0.02 },
  });
  await fillWithOld(`sqlite:${join(folder.path, 'parley.db')}`);
  parley = await startParleyInProcess(folder.path);
});
afterEach(async () => {
  await parley.discard();
  folder.remove();
});

/** The rows of a chat that was last used a month ago, and one pending question. */
async function fillWithOld(url: string): Promise<void> {
  const at = Date.now() - 30 * DAY;
  const store = await openStore({ url, clock: () => at });
  const old = Array.from({ length: OLD }, (_, nth) => message(`old-${nth}`, 'long-ago', at + nth));
  await Promise.all(old.map((one) => store.inbox.command(one, (command) => command.stop())));
  await store.outbox.enqueue(
    [{ route: old[0]?.route ?? fail(), body: { text: 'x', plain: 'x' } }],
    at,
  );
  await store.close();
}

function fail(): never {
  throw new Error('There is no message.');
}

function message(messageId: string, chatId: string, at: number): AdmittedMessage {
  const place = { channel: 'gone', account: 'default' };
  return {
    conversationId: `gone:${chatId}`,
    route: { ...place, chatId, target: { dialect: 'plain', maxLength: 4096, unit: 'utf16' } },
    receivedAt: at,
    message: {
      ...place,
      messageId,
      chat: { id: chatId, type: 'direct' },
      sender: { id: 'u1', name: 'Ada', isBot: false },
      text: `what was said ${messageId}`,
      mentions: [],
      addressed: true,
      sentAt: at,
      variables: {},
    },
  };
}

function oldLeft(): number {
  const look = new DatabaseSync(join(folder.path, 'parley.db'), { readOnly: true });
  const row = look.prepare("select count(*) as left from inbox where channel = 'gone'").get();
  look.close();
  return Number(row?.left);
}

it('[D15] old rows are removed while Parley keeps answering people, and unsent parts are kept', async () => {
  const web = createWebClient(parley);
  let asked = 0;
  const removed = expect.poll(oldLeft).toBe(0);
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  removed.then(over, over);
  // The page shows the last hundred entries.
  while (asked < 5 || (!isOver && asked < 90)) {
    asked += 1;
    await web.post(`question ${asked}`);
    const answers = async () => (await web.history()).filter((line) => !line.startsWith('> '));
    await expect.poll(async () => (await answers()).length).toBe(asked);
  }
  await removed;

  const storage = async () =>
    JSON.parse((await runCommand(['--data', folder.path, 'storage', '--json'])).out);
  // A cleanup run is recorded at its end, after the rows of the last table are removed.
  await expect.poll(async () => (await storage()).lastRun).toMatchObject({ cutoff: null });
  const { tables } = await storage();
  const use = (name: string) => tables.find(({ table }: { table: string }) => table === name);
  expect(use('inbox')).toMatchObject({ rows: asked, old: { rows: 0 }, bound: ['messages'] });
  expect(use('inbox').bytes).toBeGreaterThan(0);
  expect(use('outbox').rows).toBe(asked + 1);
  const text = (await runCommand(['--data', folder.path, 'storage'])).out;
  expect(text).toMatch(/^database {3}.* \(at most 20000 MB\).* free/m);
  expect(text).toMatch(/^inbox .* 20 days \(retention.messageDays\)$/m);
});

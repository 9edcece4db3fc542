import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest';
import { mountSmallDisk, type SmallDisk } from '../e2e/small-disk.ts';
import { ANN, BO, startTelegramScene, type TelegramScene } from '../e2e/telegram-scene.ts';
import { findUnprivilegedUser } from '../services/unprivileged-user.ts';

const postgresUrl = inject('postgresUrl');
let disk: SmallDisk;
let scene: TelegramScene;
const canFill = inject('mountPath');

const PATIENT = { timeout: 180_000 };
const LONG = 'x'.repeat(1_500);

/** Writes until one message cannot be stored; returns the number of messages. */
async function writeUntilFull(): Promise<number> {
  for (let nth = 1; nth <= 400; nth += 1) {
    scene.telegram.say({ chat: ANN, text: `${LONG} long ${nth}` });
    if (nth % 10 !== 0) continue;
    await new Promise((wake) => setTimeout(wake, 200));
    if (scene.parley.err().includes('is full; nothing was written')) return nth;
  }
  throw new Error(`Everything was stored:\n${scene.parley.err().slice(-2_000)}`);
}

/** Once there is space again, the same process accepts and answers everything. */
async function expectRecovery(written: number): Promise<void> {
  disk.empty();
  const last = await scene.telegram.waitFor(
    () => scene.answers(ANN).find((text) => text.endsWith(`long ${written}`)),
    90_000,
  );
  expect(last).toContain(`long ${written}`);
  scene.telegram.say({ chat: BO, text: 'and you?' });
  await scene.telegram.waitFor(() => scene.answers(BO).includes('You said: and you?'));
  const numbers = scene
    .answers(ANN)
    .flatMap((text) => Number(/long (\d+)$/.exec(text)?.[1] ?? Number.NaN))
    .filter((nth) => !Number.isNaN(nth));
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  const asked = JSON.stringify(scene.model.requests.map(({ body }) => body.messages));
  for (let nth = 1; nth <= written; nth += 1) expect(asked).toContain(`long ${nth}`);
}

/** Allows all messages of the test to wait, and answers each separately. */
const LIMITS = { limits: { waitingPerConversation: 1_000 }, lanes: { busy: 'followup' } };

describe.runIf(canFill)('a full disk below a Parley that listens to Telegram', () => {
  afterEach(async () => {
    await scene.close();
    disk.remove();
  });

  it(
    '[D01] [D07] confirms only messages that are stored, and answers all messages once there is space',
    PATIENT,
    async () => {
      disk = mountSmallDisk(12);
      scene = await startTelegramScene({}, LIMITS, { path: disk.path });
      scene.telegram.say({ chat: ANN, text: 'before' });
      await scene.untilAnswers(ANN, 1);
      disk.fill();
      const written = await writeUntilFull();
      expect(scene.parley.err()).toContain('is full; nothing was written. Free some space on it.');
      await expectRecovery(written);
    },
  );
});

describe.runIf(canFill && postgresUrl)('a full disk below PostgreSQL', () => {
  const name = `parley_full_${process.pid}`;
  const run = async (...statements: readonly string[]): Promise<void> => {
    const client = new Client({ connectionString: postgresUrl ?? '' });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  afterAll(async () => {
    await scene.close();
    await run(`drop database if exists ${name} with (force)`, `drop tablespace if exists ${name}`);
    disk.remove();
  });

  it(
    '[D01] [D07] does not lose messages, and Parley continues without a restart',
    PATIENT,
    async () => {
      disk = mountSmallDisk(40);
      const folder = join(disk.path, 'tables');
      mkdirSync(folder);
      const user = findUnprivilegedUser(['postgres', 'nobody']);
      if (user !== undefined) chownSync(folder, user.uid, user.gid);
      await run(
        `create tablespace ${name} location '${folder}'`,
        `create database ${name} tablespace ${name}`,
      );
      const url = Object.assign(new URL(postgresUrl ?? ''), { pathname: `/${name}` }).href;
      scene = await startTelegramScene({}, { ...LIMITS, store: { url } });
      scene.telegram.say({ chat: ANN, text: 'before' });
      await scene.untilAnswers(ANN, 1);
      disk.fill();
      const written = await writeUntilFull();
      expect(scene.parley.err()).toContain('The server’s disk is full'.replace('’', "'"));
      await expectRecovery(written);
    },
  );
});

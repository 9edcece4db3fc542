import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { textOf } from '../model/chat-request.ts';
import { ANN, openScene, type Scene } from './scene.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const PEOPLE = 15;
const THINKING_MS = 700;

describe.runIf(redisUrl && postgresUrl)('a deployment that people write to', () => {
  let scene: Scene;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-restore-'));
    scene = await openScene({ redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' });
    scene.model.reply(async ({ messages }) => {
      await sleep(THINKING_MS);
      return `You said: ${textOf(messages.at(-1)).split('\n').at(-1) ?? ''}`;
    });
  });
  afterEach(async () => {
    await scene.close();
    rmSync(folder, { recursive: true });
  });

  it('[D01] [D02] [D04] answers all of them in order, once, while a backup is put back', {
    timeout: 180_000,
  }, async () => {
    const { deployment, telegram } = scene;
    await deployment.start('gateway');
    await deployment.start('worker');
    await deployment.start('worker');
    await scene.ask('before');
    const file = join(folder, 'b.tar.gz');
    expect(await deployment.command('backup', file)).toMatchObject({ code: 0 });
    const asked = new Map<number, string[]>();
    let isOver = false;
    const talking = (async () => {
      for (let number = 0; !isOver; number += 1) {
        const chat = ANN + 1 + (number % PEOPLE);
        const text = `question ${number}`;
        asked.set(chat, [...(asked.get(chat) ?? []), `You said: ${text}`]);
        telegram.say({ chat, text });
        await sleep(120);
      }
    })();
    await sleep(1_000);
    const restored = await deployment.command('restore', file, '--yes');
    expect(restored).toMatchObject({ code: 0 });
    await sleep(1_000);
    isOver = true;
    await talking;
    const missing = () =>
      [...asked].flatMap(([chat, all]) => all.filter((one) => !scene.answers(chat).includes(one)));
    await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    for (const [chat, all] of asked) expect(scene.answers(chat)).toEqual(all);
  });
});

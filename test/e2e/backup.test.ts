import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, PROGRAM, runCommand } from './parley-process.ts';
import { ANN, BO, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

const postgresUrl = inject('postgresUrl');

let scene: TelegramScene;
let elsewhere: DataFolder;
let file: string;
beforeEach(async () => {
  scene = await startTelegramScene({}, { lanes: { busy: 'followup', collectPauseMs: 0 } });
  elsewhere = makeDataFolder({});
  rmSync(join(elsewhere.path, 'parley.yaml'));
  file = join(elsewhere.path, 'backup.tar.gz');
});
afterEach(async () => {
  await scene.close();
  elsewhere.remove();
});

describe('a backup', () => {
  it('[D11] leaves no partial file when a signal interrupts it, and reports the interruption', async () => {
    const data = scene.folder.path;
    // Random bytes do not compress, so writing them takes a while.
    writeFileSync(join(data, 'workspace', 'large.bin'), randomBytes(64 * 1024 * 1024));
    const child = spawn(process.execPath, [PROGRAM, '--data', data, 'backup', file]);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await vi.waitFor(() => expect(existsSync(`${file}.part`)).toBe(true), 60_000);
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect([code, out]).toEqual([130, expect.stringContaining('was interrupted')]);
    expect(existsSync(file) || existsSync(`${file}.part`)).toBe(false);
    expect(readdirSync(data).filter((name) => name.startsWith('backing-up-'))).toEqual([]);
  });

  it('[D01] contains each message either completely or not at all when it is taken during traffic', async () => {
    const people = [ANN, BO];
    let said = 0;
    const talking = setInterval(() => {
      said += 1;
      for (const chat of people) scene.telegram.say({ chat, text: `message ${said}` });
    }, 150);
    await scene.untilAnswers(BO, 3);
    const { code, out, err } = await parley(scene.folder, 'backup', file);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('the credentials of WhatsApp');
    await scene.untilAnswers(BO, scene.answers(BO).length + 3);
    clearInterval(talking);
    const restored = await parley(elsewhere, 'restore', file);
    expect([restored.code, restored.err]).toEqual([0, '']);
    const database = new DatabaseSync(join(elsewhere.path, 'parley.db'), { readOnly: true });
    for (const chat of people) {
      const texts = column(
        database,
        `select message ->> 'text' from inbox where chat_id = '${chat}' order by seq`,
      );
      expect(texts.length).toBeGreaterThan(2);
      expect(texts).toEqual(texts.map((_text, index) => `message ${index + 1}`));
    }
    expect(column(database, "select count(*) from inbox where state <> 'done'")).toEqual([0]);
    // An answered message must have its history and its answer; an unanswered one must have
    // neither.
    const turns = database
      .prepare(
        `select state, (select count(*) from outbox where turn_id = turn.id) as parts,
          (select count(*) from transcript where turn_id = turn.id) as entries,
          (select count(*) from inbox where turn_id = turn.id) as messages from turn`,
      )
      .all();
    for (const { state, parts, entries, messages } of turns) {
      expect([parts, entries]).toEqual(state === 'answered' ? [1, 2] : [0, 0]);
      expect(messages).toBeGreaterThan(0);
    }
    expect(turns.some(({ state }) => state === 'answered')).toBe(true);
    database.close();
  });

  it('[D04] ends the running Parley when it is restored, repeats nothing, holds back unfinished parts, and answers later messages', async () => {
    // Runs Parley in a process of its own, because the restore ends it.
    const apart = await scene.startApart();
    scene.telegram.say({ chat: ANN, text: 'one' });
    await scene.untilAnswers(ANN, 1);
    const held = scene.hold('two');
    scene.telegram.say({ chat: ANN, text: 'two' });
    await held.asked;
    expect(await parley(scene.folder, 'backup', file)).toMatchObject({ code: 0 });
    held.release();
    await scene.untilAnswers(ANN, 2);

    const damaged = `${file}.damaged`;
    writeFileSync(damaged, readFileSync(file));
    truncateSync(damaged, 900);
    const refused = await parley(scene.folder, 'restore', damaged);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was changed') });
    const waits = scene.hold('three');
    scene.telegram.say({ chat: ANN, text: 'three' });
    await waits.asked;

    const planned = await parley(scene.folder, 'restore', file, '--dry-run');
    expect([planned.code, planned.err]).toEqual([0, '']);
    expect(planned.out).toContain('every browser has to sign in again');
    const unconfirmed = await parley(scene.folder, 'restore', file);
    expect(unconfirmed).toMatchObject({ code: 1, err: expect.stringContaining('add --yes') });
    expect(unconfirmed.out).toContain(`process ${apart.pid}`);

    const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(0);
    const inContainer = await parley(scene.folder, 'restore', file, '--yes');
    parent.mockRestore();
    const err = expect.stringContaining('this container stops with it');
    expect(inContainer).toMatchObject({ code: 1, err });

    const restored = await parley(scene.folder, 'restore', file, '--yes');
    expect([restored.code, restored.err]).toEqual([0, '']);
    expect(await apart.over()).toMatchObject({ code: 0 });
    expect(restored.out).toContain(`Process ${apart.pid} was asked to stop`);
    expect(restored.out).toContain('1 unanswered conversation');
    expect(restored.out).toContain('before-restore-');
    expect(restored.out).toContain(
      'Carried over because people are waiting for it: 1 unanswered message.',
    );
    expect(restored.out).toMatch(/Start Parley with ".*start.*"/);
    waits.release();
    await scene.startAgain();
    await scene.untilAnswers(ANN, 3);
    scene.telegram.say({ chat: ANN, text: 'four' });
    const answers = await scene.untilAnswers(ANN, 4);
    expect(answers).toEqual(['one', 'two', 'three', 'four'].map((text) => `You said: ${text}`));
    const dead = await parley(scene.folder, 'dead', 'list');
    expect(dead.out).toContain('two');
    expect(dead.out).not.toContain('three');
    expect(scene.answers(ANN)).toHaveLength(4);
  });

  it.runIf(postgresUrl)(
    '[D09] moves an installation to an empty PostgreSQL database and refuses any other database',
    async () => {
      const database = await createFreshDatabase(postgresUrl ?? '');
      scene.telegram.say({ chat: ANN, text: 'one' });
      await scene.untilAnswers(ANN, 1);
      const held = scene.hold('two');
      scene.telegram.say({ chat: ANN, text: 'two' });
      await held.asked;
      await scene.parley.end();
      expect(await parley(scene.folder, 'backup', file)).toMatchObject({ code: 0 });
      const settings = JSON.parse(readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8'));
      const large = makeDataFolder({ ...settings, store: { url: database.url } });
      let running: TestParley | undefined;
      try {
        const moved = await parley(large, 'restore', file, '--continue');
        expect([moved.code, moved.err]).toEqual([0, '']);
        held.release();
        running = await startParleyInProcess(large.path);
        expect(await scene.untilAnswers(ANN, 2)).toEqual(['You said: one', 'You said: two']);
        scene.telegram.say({ chat: ANN, text: 'three' });
        await scene.untilAnswers(ANN, 3);
        const [asked] = scene.model.requests.slice(-1);
        expect(JSON.stringify(asked).includes('You said: two')).toBe(true);
        await running.end();
        const again = await parley(large, 'restore', file, '--continue');
        expect(again).toMatchObject({
          code: 1,
          err: expect.stringContaining('already contains Parley data'),
        });
        const none = await parley(large, 'backup', join(elsewhere.path, 'b.tar.gz'));
        expect(none).toMatchObject({ code: 1, err: expect.stringContaining('pg_dump') });
      } finally {
        await running?.discard();
        large.remove();
        await database.drop();
      }
    },
  );
});

function parley(folder: Pick<DataFolder, 'path'>, ...args: readonly string[]) {
  return runCommand(['--data', folder.path, ...args]);
}

function column(database: DatabaseSync, query: string): readonly unknown[] {
  return database
    .prepare(query)
    .all()
    .map((row) => Object.values(row)[0]);
}

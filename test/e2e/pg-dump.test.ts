import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { createFreshDatabase } from '../services/fresh-database.ts';
import { startParleyInProcess } from './parley-here.ts';
import { makeDataFolder, runCommand } from './parley-process.ts';
import { ANN, startTelegramScene } from './telegram-scene.ts';

const postgresUrl = inject('postgresUrl');
const pgDump = inject('pgDumpPath');

describe.runIf(postgresUrl && pgDump)('a PostgreSQL restored by pg_restore', () => {
  it('[D04] [D09] repeats nothing, and turns work that was unfinished at the dump into dead letters', async () => {
    const database = await createFreshDatabase(postgresUrl ?? '');
    const scene = await startTelegramScene();
    onTestFinished(() => scene.close().then(() => database.drop()));
    await scene.parley.end();
    const settings = JSON.parse(readFileSync(join(scene.folder.path, 'parley.yaml'), 'utf8'));
    const folder = makeDataFolder({ ...settings, store: { url: database.url } });
    onTestFinished(() => folder.remove());
    const before = await startParleyInProcess(folder.path);
    onTestFinished(() => before.discard());
    scene.telegram.say({ chat: ANN, text: 'one' });
    await scene.untilAnswers(ANN, 1);
    const held = scene.hold('two');
    scene.telegram.say({ chat: ANN, text: 'two' });
    await held.asked;
    const dump = join(folder.path, 'parley.dump');
    const left = ['sign_in', 'page_session'].map((table) => `--exclude-table-data=${table}`);
    execFileSync(pgDump ?? '', ['--format=custom', `--file=${dump}`, ...left, database.url]);
    const dumped = await counterIn(database.url);
    held.release();
    await scene.untilAnswers(ANN, 2);
    // The restore cannot detect a loss of less than two seconds (docs/deploy.md).
    await expect.poll(() => counterIn(database.url)).toBeGreaterThan(dumped);
    await before.end();

    await createAgain(database.url);
    const pgRestore = join(dirname(pgDump ?? ''), 'pg_restore');
    execFileSync(pgRestore, ['--no-owner', `--dbname=${database.url}`, dump]);
    const after = await startParleyInProcess(folder.path);
    onTestFinished(() => after.discard());
    scene.telegram.say({ chat: ANN, text: 'three' });
    const said = await scene.untilAnswers(ANN, 4);
    const answers = said.filter((text) => !text.includes('had been rolled back'));
    expect(answers).toEqual(['one', 'two', 'three'].map((text) => `You said: ${text}`));
    const dead = await runCommand(['--data', folder.path, 'dead', 'list']);
    expect(dead.out).toContain('two');
  });
});

/** The counter stored in the database. */
async function counterIn(url: string): Promise<number> {
  const { rows } = await ask(url, 'select counter from store_state');
  return Number(rows[0]?.counter);
}

/** Creates an empty database of the same name. */
async function createAgain(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await ask(postgresUrl ?? '', `drop database ${name} with (force)`);
  await ask(postgresUrl ?? '', `create database ${name}`);
}

async function ask(url: string, query: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(query);
  } finally {
    await client.end();
  }
}

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';
import { createWebClient } from './web-client.ts';

/**
 * Tools that never return: one in a JavaScript loop, and one in native code, where the responsible
 * tool cannot be identified.
 */
const STUCK = `
import { execFileSync } from 'node:child_process';
import { defineTool, definePlugin } from '@parley/plugins';
import { z } from 'zod';

const tool = (name, run) => defineTool({
  name, summary: 'Takes its time.', tier: 'middleware', effect: 'read', audience: 'everyone',
  approval: 'never', input: z.strictObject({}), run,
});
// A loop that leaves the processor to others: nothing but this function knows that it waits.
const never = new Int32Array(new SharedArrayBuffer(4));
function spinForEver() { for (;;) Atomics.wait(never, 0, 0, 5); }

export const plugin = definePlugin({
  name: 'stuck', version: '1.0.0',
  setup: () => ({ tools: [
    tool('spin', async () => spinForEver()),
    tool('wait', async () => execFileSync('sleep', ['600'])),
  ] }),
});
`;

let model: ModelDouble;
let folder: DataFolder;
let parley: ParleyProcess | undefined;

beforeEach(async () => {
  model = await startModelDouble();
  folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    http: { port: 0 },
    limits: { hangSeconds: 5 },
    plugins: ['./stuck'],
  });
  mkdirSync(join(folder.path, 'stuck'));
  writeFileSync(join(folder.path, 'stuck/index.js'), STUCK);
});
afterEach(async () => {
  await parley?.end('SIGKILL');
  await model.close();
  folder.remove();
});

async function start(): Promise<ParleyProcess> {
  parley = await startParleyProcess(folder.path);
  return parley;
}

/** The watchdog record that the running process has written so far. */
function recordOf({ path }: DataFolder): string {
  const files = readdirSync(join(path, 'working'));
  return files.map((name) => readFileSync(join(path, 'working', name), 'utf8')).join('');
}

const cli = (...args: string[]) => runCommand(['--data', folder.path, ...args]);

describe('a turn whose tool never returns', () => {
  it('[D13] [G16] ends its process twice, then becomes a dead letter, and its chat is notified', async () => {
    model.queue({ toolCalls: [{ name: 'spin', arguments: {} }] });
    const first = await start();
    await createWebClient(first).post('Turn round.');
    const ended = await first.over();
    expect(ended.code).toBe('SIGKILL');
    expect(ended.err).toContain('Parley was blocked for 5 s');

    const second = await start();
    expect((await second.over()).code).toBe('SIGKILL');
    expect(second.err()).toContain('the previous process was blocked until it was killed');
    expect(second.err()).toMatch(/at spinForEver \(.*stuck\/index\.js/);

    const third = await start();
    const web = createWebClient(third);
    await expect.poll(web.history).toContainEqual(expect.stringContaining('I have given up on it'));
    const { letters } = JSON.parse((await cli('dead', 'list', '--json')).out);
    expect(letters).toMatchObject([
      { kind: 'unanswered', reason: expect.stringContaining('blocked the process 2 times') },
    ]);
    expect((await cli('why', 'last')).out).toContain('the process hung during this run');
    model.queue('Here I am.');
    await web.post('And now?');
    await expect.poll(web.history).toContain('<p>Here I am.</p>');
    expect((await third.end()).code).toBe(0);
    expect(readdirSync(join(folder.path, 'working'))).toEqual([]);
  });

  it('[D11] [D13] is ended even in native code, where SIGTERM is not handled, and counts even if a supervisor kills the process before the watchdog does', async () => {
    model.queue({ toolCalls: [{ name: 'wait', arguments: {} }] });
    const first = await start();
    await createWebClient(first).post('Wait for it.');
    await expect.poll(() => recordOf(folder), { timeout: 60_000 }).toContain('"still"');
    expect((await first.end('SIGTERM')).code).toBe('SIGKILL');
    const killed = recordOf(folder);
    const second = await start();
    // The record of the previous process remains until it has been read.
    await expect
      .poll(() => recordOf(folder) !== killed && recordOf(folder), { timeout: 60_000 })
      .toContain('"still"');
    expect((await second.end('SIGKILL')).code).toBe('SIGKILL');
    const third = await start();
    await expect
      .poll(createWebClient(third).history)
      .toContainEqual(expect.stringContaining('I have given up on it'));
  });
});

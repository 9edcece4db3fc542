import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { locateDataFolder } from '../data-folder.ts';
import { main } from '../main.ts';
import { type CapturedOutput, captureOutput } from '../testing/captured-output.ts';
import { printLogs } from './logs.ts';

let data: string;
let written: CapturedOutput;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'parley-logs-'));
  written = captureOutput();
  mkdirSync(locateDataFolder(data, {}).logs);
  for (const msg of ['one', 'two', 'three']) keep(msg);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(data, { recursive: true });
});

let second = 0;
function keep(msg: string): void {
  const time = new Date(Date.UTC(2026, 10, 27, 12, 0, second++)).toISOString();
  const line = JSON.stringify({ time, level: 'info', msg });
  appendFileSync(join(locateDataFolder(data, {}).logs, 'gateway-here-1.log'), `${line}\n`);
}

const messages = (text: string) => [...text.matchAll(/"msg":"(\w+)"/g)].map(([, msg]) => msg);

describe('parley logs', () => {
  it.each([
    [
      ['-n', '2'],
      ['two', 'three'],
    ],
    [['-n2'], ['two', 'three']],
    [['--limit', '1'], ['three']],
    [['-n', '0'], []],
    [[], ['one', 'two', 'three']],
  ])('[U03] prints the last lines: %j', async (args, expected) => {
    expect(await main(['--data', data, 'logs', '--json', ...args])).toBe(0);
    expect(messages(written.out)).toEqual(expected);
  });

  it.each([
    [2, ['two', 'three']],
    [0, []],
  ])('[U03] follows the log after printing the last %s lines', async (limit, expected) => {
    const printed: string[] = [];
    const end = new AbortController();
    const cli = {
      folder: locateDataFolder(data, {}),
      json: true,
      print: (text: string) => void printed.push(text),
    };
    const following = printLogs(cli, { limit, follow: true, level: 'debug' }, end.signal);
    await expect.poll(() => printed.length).toBe(limit);
    // The first read may still be running, and lines written before it ends do not count as new.
    const shown = () => messages(printed.join('\n'));
    await expect
      .poll(() => {
        keep('four');
        return shown();
      })
      .toContain('four');
    expect(shown().filter((msg) => msg !== 'four')).toEqual(expected);
    end.abort();
    expect(await following).toBe(0);
  });
});

import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPersistentLog } from './log-file.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-kept-'));
  folder = join(root, 'logs');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (name: string, bytes = 80_000) =>
  openPersistentLog({ folder, name, bytes, now: Date.now() });
const text = (file: string) => readFileSync(join(folder, file), 'utf8');

describe('the log files', () => {
  it('[U03] contain what was written before the process ended, are readable only by their owner, and are continued', () => {
    for (const line of ['one\n', 'two\n']) {
      const log = open('a');
      log.write(line);
      log.close();
      log.write('too late\n');
    }
    expect(text('a.log')).toBe('one\ntwo\n');
    const modes = [folder, join(folder, 'a.log')].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
  });

  it('[U03] [D07] stay within their limit and keep the newest lines', async () => {
    const log = open('a');
    for (let nth = 0; nth < 50; nth += 1) {
      log.write(`${`line${nth}`.padEnd(999, '.')}\n`);
      if (nth % 5 === 4) await expect.poll(() => text('a.log')).toContain(`line${nth}.`);
    }
    log.close();
    const files = readdirSync(folder).toSorted();
    expect(files).toEqual(['a.log', 'a.log.1']);
    for (const file of files) expect(statSync(join(folder, file)).size).toBeLessThanOrEqual(10_000);
    expect(text('a.log')).toContain('line49.');
  });

  it('[U03] are removed at startup if they belong to other processes and are old, or are the oldest beyond the limit', () => {
    open('a').close();
    for (const [nth, name] of ['new', 'middle', 'large', 'old'].entries()) {
      const file = join(folder, `${name}.log`);
      writeFileSync(file, 'x'.repeat(name === 'large' ? 60_000 : 10_000));
      const at = Date.now() / 1_000 - (name === 'old' ? 15 * 86_400 : nth * 60);
      utimesSync(file, at, at);
    }
    open('b').close();
    expect(readdirSync(folder).toSorted()).toEqual(['a.log', 'b.log', 'middle.log', 'new.log']);
  });

  it('[D07] report lost lines, and writing never throws', () => {
    const log = open('a', 80_000_000);
    for (let nth = 0; nth < 1_100; nth += 1) log.write(`${'x'.repeat(999)}\n`);
    log.close();
    expect(JSON.parse(text('a.log').split('\n').at(-2) ?? '')).toMatchObject({ lines: 100 });
    writeFileSync(join(root, 'file'), '');
    const nowhere = openPersistentLog({
      folder: join(root, 'file/logs'),
      name: 'a',
      bytes: 1e6,
      now: 0,
    });
    nowhere.write('lost\n');
    nowhere.close();
  });
});

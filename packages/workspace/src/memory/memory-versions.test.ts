import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatVersionName, readVersionName } from '../file-versions.ts';
import { createLocalLock } from '../workspace-lock.ts';
import { MemoryVersions } from './memory-versions.ts';

let folder: string;
let now: number;
let versions: MemoryVersions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-versions-'));
  now = Date.parse('2026-11-22T02:00:14Z');
  let ids = 0;
  const newId = (prefix: string) => {
    ids += 1;
    return `${prefix}-${ids}`;
  };
  versions = new MemoryVersions({ folder, newId, clock: () => now, lock: createLocalLock() });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = () => join(folder, 'MEMORY.md');
const put = (text: string) => writeFileSync(path(), text);
const got = () => readFileSync(path(), 'utf8');
const replace = async (to: string) =>
  versions.replace({ from: await versions.current(), to, why: ['because'] });

describe('versions of MEMORY.md', () => {
  it('[H07] are restored byte for byte, with any content', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
        async (texts) => {
          rmSync(join(folder, '.parley'), { recursive: true, force: true });
          for (const text of texts) {
            put(text);
            now += 1_000;
            await replace(`${text} and more`);
            const [after, before] = await versions.list();
            expect((await versions.read(after?.name ?? ''))?.raw).toBe(got());
            await versions.restore(before?.name ?? '');
            expect(got()).toBe(text);
          }
        },
      ),
      toRunOptions(25),
    );
  });

  it('[H07] include the current text of MEMORY.md when another version is restored, with the reason', async () => {
    put('one\n');
    await replace('two');
    const [, first] = await versions.list();
    put('by hand\n');
    await versions.restore(first?.name ?? '');
    expect(got()).toBe('one\n');
    const all = await versions.list();
    const texts = await Promise.all(all.map(async ({ name }) => (await versions.read(name))?.raw));
    expect(texts).toEqual(['one\n', 'by hand\n', 'two\n', 'one\n']);
    expect(await versions.why(all[0]?.name ?? '')).toEqual([`restored from ${first?.name}`]);
    expect(await versions.why(all[1]?.name ?? '')).toEqual([]);
  });

  it('[H07] are not written if another change came first', async () => {
    put('one\n');
    const result = await versions.replace({ from: 'another', to: 'two', why: [] });
    expect(result).toEqual({ kind: 'changed' });
    expect(got()).toBe('one\n');
    expect(await versions.list()).toEqual([]);
  });

  it('[H07] are limited to the newest thirty, and the oldest are removed', async () => {
    put('0\n');
    for (let n = 1; n <= 35; n += 1) await replace(String(n));
    const all = await versions.list();
    expect(all).toHaveLength(30);
    expect((await versions.read(all.at(-1)?.name ?? ''))?.text).toBe('6');
  });

  it('[H07] are never read from outside the workspace folder', async () => {
    writeFileSync(join(folder, 'other.md'), 'secret');
    symlinkSync('other.md', path());
    await expect(versions.current()).rejects.toThrow('symbolic link');
    expect(await versions.read('../../other')).toBeNull();
    expect(await versions.restore('../../other')).toMatchObject({ kind: 'refused' });
  });

  it('[H07] get names that sort in order of creation, even when the clock is set back', () => {
    const moments = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(moments, (all) => {
        let newest: ReturnType<typeof readVersionName> = null;
        for (const moment of all) {
          const next = readVersionName(formatVersionName(moment, newest ?? undefined));
          expect(next).not.toBeNull();
          if (newest !== null) expect((next?.name ?? '') > newest.name).toBe(true);
          newest = next;
        }
      }),
    );
  });
});

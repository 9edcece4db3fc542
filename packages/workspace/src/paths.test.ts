import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMarkdownLister, listMarkdownFiles, parseFileName } from './paths.ts';

describe('a path inside the workspace', () => {
  it.each(['AGENTS.md', 'memory/2026-11-21.md', 'knowledge/Grüße aus Köln.md', '笔记.md'])(
    'accepts a path that is %s',
    (name) => {
      expect(parseFileName(name)?.segments.join('/')).toBe(name);
    },
  );

  it.each([
    '',
    '..',
    '../secret.md',
    'notes/../../secret.md',
    '/etc/passwd',
    'a//b.md',
    './AGENTS.md',
    '.git/config',
    'a\\..\\b.md',
    'C:\\secret.md',
    'MEMORY.md::$DATA',
    'MEMORY.md.',
    'MEMORY.md ',
    'a\0.md',
    'a\n.md',
    'MEM\u200bORY.md',
    `${'a/'.repeat(9)}b.md`,
    `${'a'.repeat(240)}.md`,
  ])('[W07] refuses the path %j', (name) => {
    expect(parseFileName(name)).toBeNull();
  });
});

let folder: string;
let now: number;
const clock = () => now;
const put = (name: string) => writeFileSync(join(folder, name), 'x');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-list-'));
  mkdirSync(join(folder, 'deep'));
  put('a.md');
  put('deep/b.md');
  // This time is long after the last change.
  now = Date.now() + 60_000;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the cached list of Markdown files', () => {
  it('[W07] is updated when files are added, removed and renamed, even in nested folders', async () => {
    const list = createMarkdownLister(clock);
    expect(await list(folder)).toEqual(['a.md', 'deep/b.md']);
    expect(await list(folder)).toEqual(['a.md', 'deep/b.md']);
    put('deep/c.md');
    expect(await list(folder)).toEqual(['a.md', 'deep/b.md', 'deep/c.md']);
    rmSync(join(folder, 'a.md'));
    mkdirSync(join(folder, 'new'));
    put('new/d.md');
    expect(await list(folder)).toEqual(['deep/b.md', 'deep/c.md', 'new/d.md']);
    rmSync(join(folder, 'deep'), { recursive: true });
    expect(await list(folder)).toEqual(['new/d.md']);
  });

  it('does not rely on the timestamps of a folder that has just changed', async () => {
    now = 0;
    const list = createMarkdownLister(clock);
    const stamp = new Date(1_000);
    expect(await list(folder)).toEqual(['a.md', 'deep/b.md']);
    put('c.md');
    utimesSync(folder, stamp, stamp);
    expect(await list(folder)).toEqual(['a.md', 'c.md', 'deep/b.md']);
  });

  it('is empty for a path that is missing, a link, or not a folder', async () => {
    const list = createMarkdownLister(clock);
    symlinkSync(join(folder, 'deep'), join(folder, 'link'));
    for (const name of ['none', 'a.md', 'link']) expect(await list(join(folder, name))).toEqual([]);
    expect(await listMarkdownFiles(join(folder, 'none'))).toEqual([]);
  });
});

import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';

/** The files of W01. */
const NINE = [
  'AGENTS.md',
  'BOOT.md',
  'BOOTSTRAP.md',
  'HEARTBEAT.md',
  'IDENTITY.md',
  'MEMORY.md',
  'SOUL.md',
  'TOOLS.md',
  'USER.md',
];
const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'c1' };
const GUEST: Reader = { kind: 'guest', conversationId: 'c2' };

let base: string;
let folder: string;
let workspace: Workspace;

const put = (name: string, text: string | Uint8Array): Promise<void> =>
  writeFile(join(folder, name), text);
const read = async (reader: Reader, name: string, limit?: number): Promise<string> => {
  const file = await workspace.for(reader).read(name, limit);
  return file.kind === 'file' ? file.text : `absent: ${file.reason}`;
};

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-workspace-'));
  folder = join(base, 'deep', 'workspace');
  workspace = await openWorkspace({ folder, templates: TEMPLATES });
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('a first start', () => {
  it('[W01] makes the folder for its owner alone and fills it from the templates', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'AGENTS.md'))).mode & 0o777).toBe(0o600);
    expect([...workspace.created].sort()).toEqual(NINE);
    for (const name of ['memory', 'skills', 'knowledge']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o700);
    }
    expect(await read(GUEST, 'AGENTS.md')).toContain('How you work here');
  });

  it('[W01] overwrites nothing that is there, not even a dangling link', async () => {
    const other = join(base, 'other');
    await mkdir(other);
    await writeFile(join(other, 'SOUL.md'), 'mine');
    await symlink(join(base, 'nowhere.md'), join(other, 'IDENTITY.md'));
    const opened = await openWorkspace({ folder: other, templates: TEMPLATES });
    expect(opened.created).toContain('AGENTS.md');
    for (const name of ['SOUL.md', 'IDENTITY.md', 'BOOTSTRAP.md']) {
      expect(opened.created).not.toContain(name);
    }
    expect(await readFile(join(other, 'SOUL.md'), 'utf8')).toBe('mine');
    await expect(stat(join(base, 'nowhere.md'))).rejects.toThrow('ENOENT');
  });

  it('[W01] leaves a workspace that exists exactly as it is', async () => {
    await rm(join(folder, 'SOUL.md'));
    expect((await openWorkspace({ folder, templates: TEMPLATES })).created).toEqual([]);
    await expect(stat(join(folder, 'SOUL.md'))).rejects.toThrow('ENOENT');
  });

  it('says what to do when the folder or the templates are no use', async () => {
    const file = join(base, 'file');
    await writeFile(file, '');
    await expect(openWorkspace({ folder: file, templates: TEMPLATES })).rejects.toMatchObject({
      code: 'workspace-folder',
      message: expect.stringContaining(file),
    });
    const options = { folder: join(base, 'new'), templates: join(base, 'none') };
    await expect(openWorkspace(options)).rejects.toMatchObject({ code: 'workspace-templates' });
  });
});

describe('a view', () => {
  it('[W02] holds the memory for the owner and for nobody else', async () => {
    await put('MEMORY.md', '---\naudience: everyone\n---\ncanary-1');
    await put('memory/2026-11-21.md', 'canary-2');
    expect(await read(OWNER, 'MEMORY.md')).toBe('canary-1');
    expect(await read(OWNER, 'memory/2026-11-21.md')).toBe('canary-2');
    for (const name of ['MEMORY.md', 'memory/2026-11-21.md', 'memory/none.md']) {
      expect(await workspace.for(GUEST).read(name)).toEqual({ kind: 'absent', reason: 'private' });
    }
  });

  it('[W03] holds a file marked audience: owner for the owner alone', async () => {
    await put('SOUL.md', '---\naudience: owner\n---\ncanary');
    expect(await workspace.for(OWNER).read('SOUL.md')).toEqual({
      kind: 'file',
      text: 'canary',
      source: 'SOUL.md',
      audience: { kind: 'owner' },
      characters: 6,
      cut: null,
    });
    expect(await workspace.for(GUEST).read('SOUL.md')).toEqual({
      kind: 'absent',
      reason: 'private',
    });
  });

  it('lists what its reader may see', async () => {
    await mkdir(join(folder, '.git'));
    await put('memory/a.md', 'canary');
    await put('knowledge/tea.md', 'green');
    await put('knowledge/data.bin', 'x');
    await put('.git/hidden.md', 'x');
    await put('SOUL.md', '---\naudience: owner\n---\ncanary');
    const names = async (reader: Reader): Promise<string[]> =>
      (await workspace.for(reader).list()).map((entry) => entry.name);
    expect(await names(GUEST)).toEqual(['AGENTS.md', 'knowledge/tea.md']);
    expect(await names(OWNER)).toEqual([
      'AGENTS.md',
      'BOOTSTRAP.md',
      'SOUL.md',
      'knowledge/tea.md',
      'memory/a.md',
    ]);
  });

  it('[P10] cuts a long file and says so', async () => {
    await put('SOUL.md', 'a'.repeat(30_000));
    const file = await workspace.for(GUEST).read('SOUL.md');
    expect(file).toMatchObject({ cut: { shown: 20_000, total: 30_000 } });
    expect(await read(GUEST, 'SOUL.md', 10)).toContain('10 of 30,000 characters of SOUL.md');
  });

  it.each<[string, string | Uint8Array, string]>([
    ['is empty', '---\ntitle: x\n---\n \n', 'empty'],
    ['is larger than 1 MB', 'a'.repeat(1_000_001), 'too-large'],
    ['is not text', new Uint8Array([1, 0, 2]), 'unreadable'],
  ])('says so when a file %s', async (_, content, reason) => {
    await put('SOUL.md', content);
    expect(await read(OWNER, 'SOUL.md')).toBe(`absent: ${reason}`);
  });

  it('says so when a file is missing', async () => {
    expect(await read(OWNER, 'NONE.md')).toBe('absent: missing');
    expect(await read(OWNER, 'AGENTS.md/inside.md')).toBe('absent: missing');
  });

  it('logs front matter that it cannot read, and hides the file', async () => {
    const warnings: object[] = [];
    const quiet = { debug() {}, info() {}, error() {} };
    const log = { ...quiet, warn: (facts: object) => void warnings.push(facts), child: () => log };
    workspace = await openWorkspace({ folder, templates: TEMPLATES, log });
    await put('SOUL.md', '---\naudience: [\n---\nHello');
    expect(await read(GUEST, 'SOUL.md')).toBe('absent: private');
    expect(await read(OWNER, 'SOUL.md')).toBe('Hello');
    expect(warnings[0]).toMatchObject({ file: 'SOUL.md', problem: expect.any(String) });
    expect(JSON.stringify(warnings)).not.toContain('Hello');
  });
});

describe('what leaves the workspace', () => {
  beforeEach(async () => {
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside', 'secret.md'), 'secret');
  });

  it('[W07] refuses a link to a file', async () => {
    await symlink(join(base, 'outside', 'secret.md'), join(folder, 'link.md'));
    expect(await read(OWNER, 'link.md')).toBe('absent: refused');
  });

  it('[W07] refuses a link to a folder on the way', async () => {
    await rm(join(folder, 'knowledge'), { recursive: true });
    await symlink(join(base, 'outside'), join(folder, 'knowledge'));
    expect(await read(OWNER, 'knowledge/secret.md')).toBe('absent: refused');
    expect((await workspace.for(OWNER).list()).map(({ name }) => name)).not.toContain(
      'knowledge/secret.md',
    );
  });

  it('[W07] refuses a file that becomes a link after it was read', async () => {
    expect(await read(GUEST, 'SOUL.md')).toContain('Who you are');
    await rm(join(folder, 'SOUL.md'));
    await symlink(join(base, 'outside', 'secret.md'), join(folder, 'SOUL.md'));
    expect(await read(GUEST, 'SOUL.md')).toBe('absent: refused');
  });

  it('[W07] refuses a path that leads out, and what is not a file', async () => {
    expect(await read(OWNER, '../../outside/secret.md')).toBe('absent: refused');
    expect(await read(OWNER, join(base, 'outside', 'secret.md'))).toBe('absent: refused');
    expect(await read(OWNER, 'knowledge')).toBe('absent: refused');
  });

  it('[W02] does not show the memory under a second name', async () => {
    await put('MEMORY.md', 'canary');
    await link(join(folder, 'MEMORY.md'), join(folder, 'notes.md'));
    expect(await read(GUEST, 'notes.md')).toBe('absent: private');
    expect(await read(OWNER, 'notes.md')).toBe('canary');
  });
});

describe('a changed file', () => {
  it('[W07] is used at the next reading, however it was changed', async () => {
    const soul = join(folder, 'SOUL.md');
    const past = new Date('2026-01-01T00:00:00Z');
    await put('SOUL.md', 'one');
    expect(await read(GUEST, 'SOUL.md')).toBe('one');
    await put('SOUL.md', 'two'); // as long as before, in the same instant
    expect(await read(GUEST, 'SOUL.md')).toBe('two');
    await utimes(soul, past, past);
    await read(GUEST, 'SOUL.md');
    await put('SOUL.md', 'six');
    await utimes(soul, past, past); // the old time stamp put back
    expect(await read(GUEST, 'SOUL.md')).toBe('six');
    await appendFile(soul, 'teen');
    expect(await read(GUEST, 'SOUL.md')).toBe('sixteen');
    await writeFile(join(folder, 'new.md'), 'by rename');
    await rename(join(folder, 'new.md'), soul);
    expect(await read(GUEST, 'SOUL.md')).toBe('by rename');
    await put('SOUL.md', '---\naudience: owner\n---\nhidden');
    expect(await read(GUEST, 'SOUL.md')).toBe('absent: private');
    await rm(soul);
    expect(await read(GUEST, 'SOUL.md')).toBe('absent: missing');
  });
});

import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { renameSync, symlinkSync } from 'node:fs';
import { link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'c1' };
const GUEST: Reader = { kind: 'guest', conversationId: 'c2' };
const hash = promisify(pbkdf2);
const CANARY = 'canary';

let base: string;
let folder: string;
let workspace: Workspace;
const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
const read = async (reader: Reader, name: string): Promise<string> => {
  const file = await workspace.for(reader).read(name);
  return file.kind === 'file' ? file.text : `absent: ${file.reason}`;
};
const listed = async (reader: Reader): Promise<readonly string[]> =>
  (await workspace.for(reader).list()).map(({ name }) => name);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-tricks-'));
  folder = join(base, 'w');
  workspace = await openWorkspace({ folder, templates: TEMPLATES });
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('an unusual spelling of a file name', () => {
  it.each([
    'MEMORY.md',
    'Memory.md',
    'ＭＥＭＯＲＹ.md',
    'memory/a.md',
    'MEMORY/a.md',
    'ｍemory/a.md',
    'notes/MEMORY.MD',
    'groups/a.md',
    'GROUPS/a.md',
    'groupſ/a.md',
  ])('[W02] [W04] %s is private, and even its existence is not revealed', async (name) => {
    expect(await read(GUEST, name)).toBe('absent: private');
    await mkdir(join(folder, name, '..'), { recursive: true });
    await put(name, CANARY);
    expect(await read(GUEST, name)).toBe('absent: private');
    expect(await listed(GUEST)).not.toContain(name);
  });

  it('keeps composed and decomposed letters separate, as the disk does', async () => {
    const [composed, decomposed] = ['Käse.md'.normalize('NFC'), 'Käse.md'.normalize('NFD')];
    await put(composed, '---\naudience: owner\n---\ncanary');
    expect(await read(GUEST, composed)).toBe('absent: private');
    expect(await read(GUEST, decomposed)).not.toContain(CANARY);
  });

  it('[W07] refuses a path that is deeper than a workspace allows', async () => {
    const deep = 'a/b/c/d/e/f/g/h';
    await mkdir(join(folder, deep), { recursive: true });
    await put(`${deep}/i.md`, 'x');
    expect(await read(OWNER, `${deep}/i.md`)).toBe('absent: refused');
    expect(await listed(OWNER)).not.toContain(`${deep}/i.md`);
  });
});

describe('a path to something other than a file', () => {
  it('[W07] refuses a pipe immediately, without waiting for a writer', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe.md')]);
    expect(await read(OWNER, 'pipe.md')).toBe('absent: refused');
    expect(await listed(OWNER)).not.toContain('pipe.md');
  });

  it('[W07] refuses a device and a socket', async () => {
    await symlink('/dev/zero', join(folder, 'zero.md'));
    const server = createServer().listen(join(folder, 'socket.md'));
    await new Promise((resolve) => server.once('listening', resolve));
    expect(await read(OWNER, 'zero.md')).toBe('absent: refused');
    expect(await read(OWNER, 'socket.md')).toBe('absent: refused');
    server.close();
  });
});

describe('concurrent changes on disk', () => {
  beforeEach(async () => {
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside', 'tea.md'), CANARY);
    await put('knowledge/tea.md', 'green');
  });

  it('[W07] refuses a folder that becomes a link between two reads', async () => {
    expect(await read(OWNER, 'knowledge/tea.md')).toBe('green');
    await rename(join(folder, 'knowledge'), join(folder, 'old'));
    await symlink(join(base, 'outside'), join(folder, 'knowledge'));
    expect(await read(OWNER, 'knowledge/tea.md')).toBe('absent: refused');
    expect(await listed(OWNER)).toContain('old/tea.md');
    expect(await listed(OWNER)).not.toContain('knowledge/tea.md');
  });

  it('[W07] detects a folder that becomes a link between checking and opening it', async () => {
    // The threads that open files are kept busy, so that opening the file waits until the folder
    // has become a link.
    const busy = Array.from({ length: 8 }, () => hash('x', 'y', 60_000, 64, 'sha512'));
    const reading = read(OWNER, 'knowledge/tea.md');
    renameSync(join(folder, 'knowledge'), join(folder, 'old'));
    symlinkSync(join(base, 'outside'), join(folder, 'knowledge'));
    expect(await reading).toBe('absent: unreadable');
    await Promise.all(busy);
    expect(await read(OWNER, 'knowledge/tea.md')).toBe('absent: refused');
  });

  it("[W04] does not show a group's memory to another group under a second name", async () => {
    const group = workspace.for(GUEST);
    await group.write(group.groupMemory, CANARY);
    await mkdir(join(folder, 'notes'));
    await link(join(folder, group.groupMemory), join(folder, 'notes', 'second.md'));
    expect(await read({ ...GUEST, conversationId: 'c3' }, 'notes/second.md')).toBe(
      'absent: private',
    );
    expect(await read(GUEST, group.groupMemory)).toBe('absent: private');
  });
});

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
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import { estimateTokens } from './text.ts';

/** The nine files of W01. */
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
  it('[W01] creates the folder for its owner only, and fills it from the templates', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'AGENTS.md'))).mode & 0o777).toBe(0o600);
    expect([...workspace.created].sort()).toEqual(NINE);
    for (const name of ['memory', 'skills', 'knowledge']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o700);
    }
    expect(await read(GUEST, 'AGENTS.md')).toContain('How you work here');
  });

  it('[W01] does not overwrite any existing entry, not even a dangling link', async () => {
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

  it('[W01] does not change an existing workspace', async () => {
    await rm(join(folder, 'SOUL.md'));
    expect((await openWorkspace({ folder, templates: TEMPLATES })).created).toEqual([]);
    await expect(stat(join(folder, 'SOUL.md'))).rejects.toThrow('ENOENT');
  });

  it('explains what to do if the folder or the templates cannot be used', async () => {
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

describe('a workspace view', () => {
  it('[W02] shows memory only to the owner', async () => {
    await put('MEMORY.md', '---\naudience: everyone\n---\ncanary-1');
    await put('memory/2026-11-21.md', 'canary-2');
    expect(await read(OWNER, 'MEMORY.md')).toBe('canary-1');
    expect(await read(OWNER, 'memory/2026-11-21.md')).toBe('canary-2');
    for (const name of ['MEMORY.md', 'memory/2026-11-21.md', 'memory/none.md']) {
      expect(await workspace.for(GUEST).read(name)).toEqual({ kind: 'absent', reason: 'private' });
    }
  });

  it('[W03] shows a file marked audience: owner only to the owner', async () => {
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

  it('lists the files that its reader may see', async () => {
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

  it('[P10] truncates a long file, with a notice', async () => {
    await put('SOUL.md', 'a'.repeat(30_000));
    const file = await workspace.for(GUEST).read('SOUL.md');
    expect(file).toMatchObject({ cut: { shown: 20_000, total: 30_000 } });
    expect(await read(GUEST, 'SOUL.md', 10)).toContain('10 of 30,000 characters of SOUL.md');
  });

  it.each<[string, string | Uint8Array, string]>([
    ['is empty', '---\ntitle: x\n---\n \n', 'empty'],
    ['is larger than 1 MB', 'a'.repeat(1_000_001), 'too-large'],
    ['is not text', new Uint8Array([1, 0, 2]), 'unreadable'],
  ])('reports when a file %s', async (_, content, reason) => {
    await put('SOUL.md', content);
    expect(await read(OWNER, 'SOUL.md')).toBe(`absent: ${reason}`);
  });

  it('reports that a file is missing', async () => {
    expect(await read(OWNER, 'NONE.md')).toBe('absent: missing');
    expect(await read(OWNER, 'AGENTS.md/inside.md')).toBe('absent: missing');
  });

  it('logs front matter that cannot be read, and hides the file', async () => {
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

describe('paths that leave the workspace', () => {
  beforeEach(async () => {
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside', 'secret.md'), 'secret');
  });

  it('[W07] refuses a link to a file', async () => {
    await symlink(join(base, 'outside', 'secret.md'), join(folder, 'link.md'));
    expect(await read(OWNER, 'link.md')).toBe('absent: refused');
  });

  it('[W07] refuses a path through a linked folder', async () => {
    await rm(join(folder, 'knowledge'), { recursive: true });
    await symlink(join(base, 'outside'), join(folder, 'knowledge'));
    expect(await read(OWNER, 'knowledge/secret.md')).toBe('absent: refused');
    expect((await workspace.for(OWNER).list()).map(({ name }) => name)).not.toContain(
      'knowledge/secret.md',
    );
  });

  it('[W07] refuses a file that became a link after it was read', async () => {
    expect(await read(GUEST, 'SOUL.md')).toContain('Who you are');
    await rm(join(folder, 'SOUL.md'));
    await symlink(join(base, 'outside', 'secret.md'), join(folder, 'SOUL.md'));
    expect(await read(GUEST, 'SOUL.md')).toBe('absent: refused');
  });

  it('[W07] refuses a path that leads out of the workspace, and anything that is not a file', async () => {
    expect(await read(OWNER, '../../outside/secret.md')).toBe('absent: refused');
    expect(await read(OWNER, join(base, 'outside', 'secret.md'))).toBe('absent: refused');
    expect(await read(OWNER, 'knowledge')).toBe('absent: refused');
  });

  it('[W02] does not show memory under a second name of its file', async () => {
    await put('MEMORY.md', 'canary');
    await link(join(folder, 'MEMORY.md'), join(folder, 'notes.md'));
    expect(await read(GUEST, 'notes.md')).toBe('absent: private');
    expect(await read(OWNER, 'notes.md')).toBe('canary');
  });
});

describe('a changed file', () => {
  it('[W07] reads a changed file again after any kind of change', async () => {
    const soul = join(folder, 'SOUL.md');
    const past = new Date('2026-01-01T00:00:00Z');
    await put('SOUL.md', 'one');
    expect(await read(GUEST, 'SOUL.md')).toBe('one');
    await put('SOUL.md', 'two'); // The new text has the same length as before and is written at the same instant.
    expect(await read(GUEST, 'SOUL.md')).toBe('two');
    await utimes(soul, past, past);
    await read(GUEST, 'SOUL.md');
    await put('SOUL.md', 'six');
    await utimes(soul, past, past); // This restores the old timestamp.
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

describe('a workspace without memory', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-memory-'));
    const open = await openWorkspace({ folder, templates: TEMPLATES });
    await mkdir(join(folder, 'memory'), { recursive: true });
    await writeFile(join(folder, 'MEMORY.md'), 'canary');
    await writeFile(join(folder, 'memory/2026-11-21.md'), 'canary');
    await writeFile(join(folder, 'AGENTS.md'), 'How you work here.');
    await open.for(GUEST).write(open.for(GUEST).groupMemory, 'canary');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function seenBy(reader: Reader, memory: 'main-session' | 'off'): Promise<string[]> {
    const view = (await openWorkspace({ folder, templates: TEMPLATES, memory })).for(reader);
    const listed = (await view.list()).map(({ name }) => name);
    const names = [...listed, 'MEMORY.md', 'memory/2026-11-21.md', view.groupMemory];
    const files = await Promise.all([...new Set(names)].map((name) => view.read(name)));
    return files.flatMap((file) => (file.kind === 'file' ? [file.source] : []));
  }

  it('[P15] [W02] hides memory from every reader, including the owner, and shows all other files', async () => {
    for (const reader of [OWNER, GUEST]) {
      const seen = await seenBy(reader, 'off');
      expect(seen).toContain('AGENTS.md');
      expect(seen.filter((name) => /memory|groups/i.test(name))).toEqual([]);
    }
  });

  it('[W02] [W04] shows owners their memory, and a group its own, when memory is on', async () => {
    expect(await seenBy(OWNER, 'main-session')).toEqual(
      expect.arrayContaining(['MEMORY.md', 'memory/2026-11-21.md']),
    );
    const group = await seenBy(GUEST, 'main-session');
    expect(group.filter((name) => /memory|groups/i.test(name))).toHaveLength(1);
  });
});

describe('the files of a new workspace', () => {
  it.each(['IDENTITY.md', 'USER.md', 'TOOLS.md', 'MEMORY.md', 'HEARTBEAT.md', 'BOOT.md'])(
    '[W01] %s costs no tokens until it is filled in',
    async (name) => {
      expect(await workspace.for(OWNER).read(name)).toEqual({ kind: 'absent', reason: 'empty' });
    },
  );

  it('[P09] AGENTS.md and SOUL.md leave most of 3,000 tokens for the rest of the prompt', async () => {
    let tokens = 0;
    for (const name of ['AGENTS.md', 'SOUL.md']) {
      const file = await workspace.for(GUEST).read(name);
      tokens += file.kind === 'file' ? estimateTokens(file.text) : Number.POSITIVE_INFINITY;
    }
    expect(tokens).toBeLessThan(900);
  });

  it('[W03] the contents of USER.md are shown only to the owner', async () => {
    const path = join(folder, 'USER.md');
    await writeFile(path, (await readFile(path, 'utf8')).replace('**Name:**', '**Name:** Ann'));
    expect(await workspace.for(OWNER).read('USER.md')).toMatchObject({ kind: 'file' });
    expect(await workspace.for(GUEST).read('USER.md')).toMatchObject({ reason: 'private' });
  });

  it.each(['mail', 'calendar', 'progress', 'health', 'memory'])(
    '[H06] %s is among the example tasks',
    async (task) => {
      const heartbeat = await readFile(join(TEMPLATES, 'HEARTBEAT.md'), 'utf8');
      expect(heartbeat).toContain(`\n## ${task}\n- every: `);
    },
  );
});

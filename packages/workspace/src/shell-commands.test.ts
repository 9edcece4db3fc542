import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'main' };
const GUEST: Reader = { kind: 'guest', conversationId: 'crew' };
const RULES = {
  isPromptFile: (name: string) => /^(AGENTS\.md$|formats\/)/.test(name),
  timeoutMs: 1_000,
};

let base: string;
let folder: string;
let workspace: Workspace;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'parley-commands-'));
  mkdirSync(join(base, 'templates'));
  folder = join(base, 'w');
  workspace = await open();
  put('AGENTS.md', 'rules');
  put('notes/open.md', 'open');
  put('notes/mine.md', '---\naudience: owner\n---\nmine');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = () => openWorkspace({ folder, templates: join(base, 'templates') });
function put(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}
const onDisk = (name: string) => readFileSync(join(folder, name), 'utf8');
async function shown(name: string, reader = GUEST): Promise<string> {
  const file = await workspace.for(reader).read(name);
  return file.kind === 'file' ? file.text : file.reason;
}

describe('[W09] a command of the shell', () => {
  it('can only read what others can read, and what becomes prompt text', async () => {
    put('formats/telegram.md', '---\naudience: owner\n---\nx');
    put('deep/1/2/3/4/5/note.md', 'open');
    const closed = await workspace.commands.run(RULES, async (readOnly) => readOnly);
    expect([...closed].sort()).toEqual([
      ...['.parley', 'AGENTS.md', 'deep/1/2/3/4/5/note.md', 'formats', 'groups', 'notes/open.md'],
      'skills',
    ]);
  });

  it('hides a file that was open and known once the command has changed it', async () => {
    // Old enough to be remembered as it is.
    await setTimeout(80);
    expect(await shown('notes/open.md')).toBe('open');
    expect(await shown('notes/open.md')).toBe('open');
    await workspace.commands.run(RULES, async () => {
      expect(await shown('notes/open.md')).toBe('open');
      put('notes/open.md', 'a secret');
      await setTimeout(80);
      expect(await shown('notes/open.md')).toBe('private');
      expect(await shown('notes/open.md')).toBe('private');
      expect(await shown('notes/open.md', OWNER)).toBe('a secret');
    });
    expect(await shown('notes/open.md')).toBe('private');
  });

  it('makes files for the owner alone, already while it runs', async () => {
    const made = ['leak.md', 'notes/leak.md', 'a/b/c/d/e/f/leak.md', 'front.md', 'everyone.md'];
    await workspace.commands.run(RULES, async () => {
      for (const name of made) put(name, 'canary');
      put('front.md', '---\ntitle: x\n---\ncanary');
      put('everyone.md', '---\naudience: everyone\n---\ncanary');
      put('data.csv', 'canary');
      for (const name of [...made, 'data.csv']) expect(await shown(name)).toBe('private');
      expect(await shown('notes/open.md')).toBe('open');
    });
    for (const name of [...made, 'data.csv']) expect(await shown(name)).toBe('private');
    for (const name of made) expect(await shown(name, OWNER)).toContain('canary');
    expect(onDisk('front.md')).toBe(
      '---\naudience: owner # written by the agent\ntitle: x\n---\ncanary',
    );
    expect(await shown('notes/open.md')).toBe('open');
    expect(existsSync(join(folder, '.parley/commands'))).toBe(false);
  });

  it('that moves an open file or a folder away makes what is there afterwards the owner’s', async () => {
    await workspace.commands.run(RULES, async () => {
      renameSync(join(folder, 'notes'), join(folder, 'old'));
      put('notes/open.md', 'canary');
    });
    expect(await shown('notes/open.md')).toBe('private');
    expect(await shown('old/open.md')).toBe('private');
  });

  it('leaves what groups write meanwhile alone', async () => {
    const group = workspace.for(GUEST);
    await workspace.commands.run(RULES, async () => {
      expect(await group.write(group.groupMemory, 'ours')).toMatchObject({ kind: 'written' });
    });
    expect(await shown(group.groupMemory)).toBe('ours');
  });

  it('whose process died on the way has made files for the owner alone', async () => {
    const dead = { until: Date.now() + 60_000, host: hostname(), pid: 0x7fffffff, started: 1 };
    put('leak.md', 'canary');
    put('.parley/commands/c.json', JSON.stringify({ ...dead, closed: [], open: {} }));
    expect([await shown('leak.md'), await shown('AGENTS.md')]).toEqual(['private', 'private']);
    rmSync(join(folder, '.parley/commands/c.json'));
    expect(await shown('leak.md')).toBe('canary');
    const notes = { closed: ['notes'], open: {} };
    put('.parley/commands/d.json', JSON.stringify({ ...dead, ...notes }));
    workspace = await open();
    expect(onDisk('leak.md')).toBe('---\naudience: owner # written by the agent\n---\n\ncanary');
    expect(await shown('leak.md')).toBe('private');
    expect(existsSync(join(folder, '.parley/commands'))).toBe(false);
  });

  it('of a living process is not taken for dead', async () => {
    await workspace.commands.run(RULES, async () => {
      const other = await open();
      put('late.md', 'canary');
      expect(await other.for(GUEST).read('late.md')).toMatchObject({ reason: 'private' });
    });
  });

  it('does not run where it cannot be noted', async () => {
    put('.parley/commands', 'no folder');
    let ran = false;
    const run = workspace.commands.run(RULES, async () => {
      ran = true;
    });
    await expect(run).rejects.toThrow('Commands are not run');
    expect(ran).toBe(false);
  });
});

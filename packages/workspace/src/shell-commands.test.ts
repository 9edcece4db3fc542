import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
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
  promptFiles: ['AGENTS.md', 'BOOT.md', 'formats/', 'my/skills/', '.agents/skills/'],
  timeoutMs: 1_000,
};

/** Closed paths that do not exist. */
const PLACES = ['BOOT.md', 'SOUL.md', 'formats', 'my/skills', '.agents/skills'];

let base: string;
let last: Promise<unknown> = Promise.resolve();
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

describe('[W09] a shell command', () => {
  it('can only read files that others can read or that become prompt text', async () => {
    put('formats/telegram.md', '---\naudience: owner\n---\nx');
    put('deep/1/2/3/4/5/note.md', 'open');
    put('prices.csv', '---\naudience: everyone\n---\n1,2');
    put('costs.csv', '1,2');
    const covered = await workspace.commands.run(RULES, async (paths) => paths);
    expect([...covered.closed].sort()).toEqual([
      ...['.agents/skills', '.parley', 'AGENTS.md', 'BOOT.md', 'SOUL.md', 'formats', 'groups'],
      ...['my/skills', 'skills'],
    ]);
    expect([...covered.readOnly].sort()).toEqual([
      ...['AGENTS.md', 'deep/1/2/3/4/5/note.md', 'notes/open.md', 'prices.csv'],
    ]);
  });

  it('protects every closed path, and after the last command removes the paths that it created', async () => {
    // The folder for Parley's own files remains, as it does after each write.
    const names = () => readdirSync(folder).filter((name) => name !== '.parley');
    const before = names();
    const there = () => [...PLACES, 'my'].map((name) => existsSync(join(folder, name)));
    const [all, none] = [Array(6).fill(true), Array(6).fill(false)];
    let endLong = () => {};
    let startLong = () => {};
    const started = new Promise<void>((resolve) => {
      startLong = resolve;
    });
    await workspace.commands.run(RULES, async () => {
      const long = workspace.commands.run(RULES, async () => {
        startLong();
        await new Promise<void>((resolve) => {
          endLong = resolve;
        });
        expect(there()).toEqual(all);
      });
      await started;
      expect(there()).toEqual(all);
      last = long;
    });
    expect(there()).toEqual(all);
    endLong();
    await last;
    expect(there()).toEqual(none);
    expect(names()).toEqual(before);
  });

  it('keeps text that was written into a closed path in the meantime', async () => {
    await workspace.commands.run(RULES, async () => put('BOOT.md', 'by a person'));
    expect(onDisk('BOOT.md')).toContain('by a person');
  });

  it('does not leave created files behind if its process crashes', async () => {
    const dead = { until: Date.now() + 60_000, host: hostname(), pid: 0x7fffffff, started: 1 };
    put('BOOT.md', '');
    mkdirSync(join(folder, 'formats'));
    const made = ['BOOT.md', 'formats/'];
    put('.parley/commands/c.json', JSON.stringify({ ...dead, closed: [], open: {}, made }));
    workspace = await open();
    expect(made.map((name) => existsSync(join(folder, name)))).toEqual([false, false]);
  });

  it('does not run when a closed path is a link, which could be exchanged', async () => {
    symlinkSync(join(folder, 'notes'), join(folder, 'formats'));
    const run = workspace.commands.run(RULES, async () => {});
    await expect(run).rejects.toThrow('formats in the workspace is a symbolic link');
    expect(existsSync(join(folder, '.parley/commands'))).toBe(false);
  });

  it('hides a file that was public and cached once the command has changed it', async () => {
    // The file is now old enough to be cached.
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

  it('creates files that only the owner can see, even while it runs', async () => {
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

  it('makes a public file private to the owner after a command has moved it', async () => {
    await workspace.commands.run(RULES, async () => {
      renameSync(join(folder, 'notes'), join(folder, 'old'));
      put('notes/open.md', 'canary');
    });
    expect(await shown('notes/open.md')).toBe('private');
    expect(await shown('old/open.md')).toBe('private');
  });

  it('does not affect files that groups write in the meantime', async () => {
    const group = workspace.for(GUEST);
    await workspace.commands.run(RULES, async () => {
      expect(await group.write(group.groupMemory, 'ours')).toMatchObject({ kind: 'written' });
    });
    expect(await shown(group.groupMemory)).toBe('ours');
  });

  it('creates files that only the owner can see, even if its process crashes halfway', async () => {
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

  it('is not considered dead while its process is alive', async () => {
    await workspace.commands.run(RULES, async () => {
      const other = await open();
      put('late.md', 'canary');
      expect(await other.for(GUEST).read('late.md')).toMatchObject({ reason: 'private' });
    });
  });

  it('does not run if its note cannot be stored', async () => {
    put('.parley/commands', 'no folder');
    let ran = false;
    const run = workspace.commands.run(RULES, async () => {
      ran = true;
    });
    await expect(run).rejects.toThrow('Commands are not run');
    expect(ran).toBe(false);
  });
});

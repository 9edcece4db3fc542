import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryFiles } from './memory/memories.ts';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'main' };
const CREW: Reader = { kind: 'guest', conversationId: 'crew' };
const DAY = 24 * 60 * 60_000;
const BY = { by: 'the console' };

let folder: string;
let workspace: Workspace;
let now: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-editor-'));
  now = Date.parse('2026-11-22T02:00:14Z');
  workspace = await open();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (governed = {}) =>
  openWorkspace({ folder, templates: TEMPLATES, clock: () => now, ...governed });
const got = (name: string) => readFileSync(join(folder, name), 'utf8');
const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
const printOf = async (name: string) => (await workspace.editor.read(name))?.print ?? null;
async function save(name: string, text: string | null) {
  now += 1_000;
  return workspace.editor.save(name, { base: await printOf(name), text, ...BY });
}
const whys = async (name: string) =>
  (await workspace.editor.versions(name)).map(({ why }) => why[0] ?? 'found');

describe("a workspace's files in an editor", () => {
  it('[U03] lists files with their readers, as decided by the views', async () => {
    put('open.md', 'for all');
    put('closed.md', '---\naudience: owner\n---\nmine');
    put('broken.md', '---\naudience: [\n---\nmine');
    await workspace.for(CREW).write(workspace.for(CREW).groupMemory, 'ours');
    const files = new Map((await workspace.editor.list()).map((file) => [file.name, file]));
    const readers = (name: string) => files.get(name)?.readers;
    expect(['open.md', 'closed.md', 'MEMORY.md', 'TOOLS.md', 'AGENTS.md'].map(readers)).toEqual([
      ...['everyone', 'owner', 'owner', 'owner', 'everyone'],
    ]);
    expect(readers(workspace.for(CREW).groupMemory)).toBe('conversation');
    expect(files.get('broken.md')).toMatchObject({ readers: 'owner', problem: expect.any(String) });
    expect(files.get('open.md')?.tokens).toBeGreaterThan(0);
    expect([...files.keys()].filter((name) => name.includes('.parley'))).toEqual([]);
  });

  it('[U03] saves files byte for byte, and can restore every earlier text', async () => {
    put('tea.md', '---\naudience: owner\n---\n\ngreen\n');
    expect(await save('tea.md', 'black')).toEqual({ kind: 'written' });
    expect(await save('tea.md', 'white\n')).toEqual({ kind: 'written' });
    expect(got('tea.md')).toBe('white\n');
    const edited = 'edited by the console';
    expect(await whys('tea.md')).toEqual([edited, edited, 'found']);
    const [, , first] = await workspace.editor.versions('tea.md');
    now += 1_000;
    await workspace.editor.restore('tea.md', first?.name ?? '', BY.by);
    expect(got('tea.md')).toBe('---\naudience: owner\n---\n\ngreen\n');
    expect(await whys('tea.md')).toHaveLength(4);
    const home = join(folder, '.parley/history/tea.md');
    for (const name of readdirSync(home))
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    expect(await workspace.for(OWNER).read('.parley/history/tea.md')).toMatchObject({
      reason: 'refused',
    });
  });

  it('[U03] does not overwrite a file that changed in the meantime', async () => {
    put('tea.md', 'green');
    const base = await printOf('tea.md');
    put('tea.md', 'black');
    const mine = { base, text: 'white', ...BY };
    expect(await workspace.editor.save('tea.md', mine)).toEqual({ kind: 'outdated' });
    expect(await workspace.editor.save('tea.md', { ...mine, base: null })).toEqual({
      kind: 'outdated',
    });
    expect(got('tea.md')).toBe('black');
  });

  it('[U03] lists and restores removed files until their versions expire', async () => {
    await save('notes/tea.md', 'green');
    expect(await save('notes/tea.md', null)).toEqual({ kind: 'written' });
    expect(existsSync(join(folder, 'notes/tea.md'))).toBe(false);
    expect(await workspace.editor.removed()).toEqual(['notes/tea.md']);
    const [last] = await workspace.editor.versions('notes/tea.md');
    expect(last?.why).toEqual(['removed by the console']);
    await workspace.editor.restore('notes/tea.md', last?.name ?? '', BY.by);
    expect(got('notes/tea.md')).toBe('green');
    expect(await workspace.editor.removed()).toEqual([]);
    for (let n = 0; n < 35; n += 1) await save('many.md', `${n}`);
    expect(await workspace.editor.versions('many.md')).toHaveLength(30);
    now += 400 * DAY;
    await save('many.md', 'young');
    expect(await whys('many.md')).toHaveLength(2);
    await save('other.md', 'x');
    await save('many.md', null);
    expect(await workspace.editor.removed()).toEqual(['many.md']);
    now += 400 * DAY;
    await save('other.md', null);
    expect(await workspace.editor.removed()).toEqual(['other.md']);
  });

  it.each(['../out.md', 'link.md', '.hidden.md', 'a/../b.md', 'C:x.md', 'tea.txt', ''])(
    '[W07] refuses the path %j',
    async (name) => {
      put('secret.md', 'secret');
      symlinkSync('secret.md', join(folder, 'link.md'));
      const saved = workspace.editor.save(name, { base: null, text: 'x', ...BY });
      await expect(saved).rejects.toThrow('nothing was changed');
      expect(got('secret.md')).toBe('secret');
    },
  );

  it('[W06] does not write SOUL.md, in both kinds of workspaces', async () => {
    const current = async () => ({ text: 'a soul', head: '' });
    workspace = await open({ governed: { name: 'SOUL.md', current } });
    await expect(save('soul.md', 'x')).rejects.toThrow('proposals');
    await expect(save('SOUL.md', null)).rejects.toThrow('proposals');
    await expect(save('AGENTS.md', null)).rejects.toThrow('templates');
    await expect(save('big.md', 'x'.repeat(1_000_001))).rejects.toThrow('1000000');
  });

  it('[U03] keeps the previous version for the owner when the agent replaces a file', async () => {
    put('notes.md', '---\naudience: owner\n---\n\ngreen\n');
    expect(await workspace.for(OWNER).write('notes.md', 'black')).toMatchObject({
      kind: 'written',
    });
    expect(await whys('notes.md')).toEqual(['written by the agent', 'found']);
  });

  it('[G15] does not keep versions with forgotten text', async () => {
    const entry = '- Bo likes plums <!-- parley id=m1234 type=fact scope=user words=own -->';
    await save('memory/user.md', `${entry}\n- tea\n`);
    await save('notes.md', 'Bo likes plums\nand tea\n');
    await save('notes.md', 'tea alone\n');
    const group = workspace.for(CREW).groupMemory;
    await save(group, `${entry}\n- rope\n`);
    await save('MEMORY.md', '- plums\n');
    const plums = (line: string) => line.includes('plums');
    await new MemoryFiles().remove(
      workspace.for(CREW),
      () => true,
      () => false,
    );
    const kept = async (name: string) => {
      const all = await workspace.editor.versions(name);
      const texts = await Promise.all(all.map((one) => workspace.editor.version(name, one.name)));
      return texts.join('');
    };
    expect(await kept(group)).not.toContain('plums');
    expect(await kept('notes.md')).toContain('plums');
    await new MemoryFiles().remove(workspace.for(OWNER), () => true, plums);
    for (const name of ['memory/user.md', 'notes.md', 'MEMORY.md', group])
      expect([name, await kept(name)]).toEqual([name, expect.not.stringContaining('plums')]);
    expect(await kept('notes.md')).toContain('and tea');
  });
});

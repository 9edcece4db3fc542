import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import type { WorkspaceView } from './workspace-view.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');

let base: string;
let workspace: Workspace;
let owner: WorkspaceView;
let group: WorkspaceView;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-agent-files-'));
  workspace = await openWorkspace({ folder: join(base, 'workspace'), templates: TEMPLATES });
  owner = workspace.for({ kind: 'owner', conversationId: 'web:default:main' });
  group = workspace.for({ kind: 'guest', conversationId: 'telegram:default:-100' });
});
afterEach(() => rm(base, { recursive: true, force: true }));

const path = (name: string) => join(base, 'workspace', name);
const onDisk = (name: string) => readFile(path(name), 'utf8');
const waiting = async () => (await workspace.agentFiles.list()).map(({ name }) => name);
const printOf = async (name: string) => {
  const found = (await workspace.agentFiles.list()).find((file) => file.name === name);
  return found?.print ?? '';
};
const settle = async (name: string, decision: 'open' | 'keep', print?: string) =>
  workspace.agentFiles.settle(name, print ?? (await printOf(name)), decision);

describe('[W09] files that an agent wrote and nobody has released', () => {
  it("lists files that an agent wrote, but not people's files, memory files or templates", async () => {
    await owner.write('notes/new.md', 'x');
    await owner.write('memory/2026-11-22.md', 'x');
    await writeFile(path('mine.md'), '---\naudience: owner\n---\nx');
    await writeFile(path('quoted.md'), 'x\n---\naudience: owner # written by the agent\n---\n');
    expect(await waiting()).toEqual(['notes/new.md']);
    await owner.write('notes/new.md', 'y');
    expect(await waiting()).toEqual(['notes/new.md']);
  });

  it.each(['---\ntitle: Tea\n---\nbrew', 'brew'])(
    'makes a released file readable by others, and keeps the rest of its front matter: %j',
    async (text) => {
      await owner.write('notes/new.md', text);
      expect(await group.read('notes/new.md')).toMatchObject({ reason: 'private' });
      expect(await settle('notes/new.md', 'open')).toBeNull();
      expect(await group.read('notes/new.md')).toMatchObject({ text: 'brew' });
      expect((await onDisk('notes/new.md')).includes('title: Tea')).toBe(text.includes('Tea'));
      expect(await waiting()).toEqual([]);
    },
  );

  it('drops a file from the list once it is kept private, even after later writes', async () => {
    await owner.write('notes/new.md', 'x');
    expect(await settle('notes/new.md', 'keep')).toBeNull();
    expect(await onDisk('notes/new.md')).toBe('---\naudience: owner\n---\n\nx\n');
    await owner.write('notes/new.md', 'y');
    expect(await waiting()).toEqual([]);
    expect(await group.read('notes/new.md')).toMatchObject({ reason: 'private' });
  });

  it('releases a file once and exactly as shown, and never together with unseen files of a skill', async () => {
    await owner.write('notes/new.md', 'x');
    const print = await printOf('notes/new.md');
    await owner.write('notes/new.md', 'canary');
    expect(await settle('notes/new.md', 'open', print)).toContain('has changed in the meantime');
    expect(await group.read('notes/new.md')).toMatchObject({ reason: 'private' });
    expect(await settle('notes/new.md', 'keep')).toBeNull();
    expect(await settle('notes/new.md', 'open', print)).toContain('has already been decided');
    expect(await settle('../secret.md', 'open', print)).toContain('no longer exists');
    await mkdir(path('skills/tea'), { recursive: true });
    await owner.write('skills/tea/SKILL.md', '---\nname: tea\ndescription: Tea.\n---\nx');
    expect(await workspace.agentFiles.list()).toMatchObject([{ canOpen: false }]);
    expect(await settle('skills/tea/SKILL.md', 'open')).toContain('all files in the skill');
    expect(await settle('skills/tea/SKILL.md', 'keep')).toBeNull();
  });
});

import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BootstrapDecision, type BootstrapMark, decideBootstrap } from './bootstrap.ts';
import { openWorkspace, type Workspace } from './open-workspace.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'web:default:owner' };
const STARTED = {
  state: 'started',
  conversationId: OWNER.conversationId,
  session: 0,
  messageId: 'm1',
  turns: 1,
} as const;

let base: string;
let folder: string;
let workspace: Workspace;
const open = () => openWorkspace({ folder, templates: TEMPLATES });
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'parley-bootstrap-'));
  folder = join(base, 'workspace');
  workspace = await open();
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('the lifecycle of BOOTSTRAP.md', () => {
  it('[W08] begins in a workspace that Parley created, and continues after a restart', async () => {
    expect(workspace.created).toContain('BOOTSTRAP.md');
    expect(await workspace.bootstrap.mark()).toEqual({ state: 'new' });
    await workspace.bootstrap.keep(STARTED);
    expect(await (await open()).bootstrap.mark()).toEqual(STARTED);
  });

  it('[W08] begins even if the first start was interrupted', async () => {
    for (const name of ['AGENTS.md', 'BOOTSTRAP.md']) await rm(join(folder, name));
    const again = await open();
    expect(again.created).toEqual(['BOOTSTRAP.md', 'AGENTS.md']);
    expect(await again.bootstrap.mark()).toEqual({ state: 'new' });
  });

  it.each(['SOUL.md', 'MEMORY.md', 'agents.md', 'memory'])(
    '[W08] never begins if %s already existed',
    async (name) => {
      folder = join(base, 'older');
      await mkdir(join(folder, name === 'memory' ? name : ''), { recursive: true });
      if (name !== 'memory') await writeFile(join(folder, name), 'mine');
      const older = await open();
      expect(older.created).not.toContain('BOOTSTRAP.md');
      expect(await older.bootstrap.mark()).toBeNull();
    },
  );

  it('[W08] ends by moving the file to the archive without overwriting any file', async () => {
    const text = await readFile(join(folder, 'BOOTSTRAP.md'), 'utf8');
    await workspace.bootstrap.retire();
    expect(await readFile(join(folder, 'archive/BOOTSTRAP.md'), 'utf8')).toBe(text);
    expect(await workspace.for(OWNER).read('BOOTSTRAP.md')).toMatchObject({ reason: 'missing' });
    expect(await workspace.bootstrap.mark()).toBeNull();
    await writeFile(join(folder, 'BOOTSTRAP.md'), 'another');
    await workspace.bootstrap.retire();
    expect(await readFile(join(folder, 'archive/BOOTSTRAP.md'), 'utf8')).toBe(text);
    expect(await readFile(join(folder, 'archive/BOOTSTRAP-2.md'), 'utf8')).toBe('another');
    expect((await open()).created).toEqual([]);
  });

  it('[W08] ends when a person removes the file', async () => {
    await rm(join(folder, 'BOOTSTRAP.md'));
    await workspace.bootstrap.retire();
    expect(await workspace.bootstrap.mark()).toBeNull();
    expect(await readdir(folder)).not.toContain('archive');
  });

  it('[W07] does not write through a link', async () => {
    await mkdir(join(base, 'outside'));
    await symlink(join(base, 'outside'), join(folder, 'archive'));
    await workspace.bootstrap.retire();
    expect(await readdir(join(base, 'outside'))).toEqual([]);
    expect(await readdir(folder)).toContain('BOOTSTRAP.md');
  });

  it('ends when its progress cannot be read', async () => {
    await writeFile(join(folder, '.parley/bootstrap.json'), '{"state":"what"}');
    expect(await workspace.bootstrap.mark()).toBeNull();
  });
});

const TURN = { conversationId: 'web:default:owner', session: 0, messageId: 'm9' };
const LEADING: BootstrapMark = { state: 'started', ...TURN, messageId: 'm8', turns: 3 };

describe("BOOTSTRAP.md in an owner's turn", () => {
  it('[W08] guides the first conversation in a new workspace', () => {
    expect(decideBootstrap({ state: 'new' }, true, TURN)).toEqual({
      kind: 'lead',
      mark: { state: 'started', ...TURN, turns: 1 },
    });
  });

  it('[W08] keeps guiding the first conversation, and counts its turns', () => {
    expect(decideBootstrap(LEADING, true, TURN)).toEqual({
      kind: 'lead',
      mark: { ...LEADING, messageId: 'm9', turns: 4 },
    });
  });

  it('[W08] counts a repeated turn once, including the last one', () => {
    const last: BootstrapMark = { ...LEADING, messageId: 'm9', turns: 20 };
    expect(decideBootstrap(last, true, TURN)).toEqual({ kind: 'lead', mark: last });
  });

  it.each<[string, BootstrapMark | null, boolean, object, BootstrapDecision['kind']]>([
    ['in a workspace that Parley did not make', null, true, {}, 'leave-out'],
    ['in another conversation', LEADING, true, { conversationId: 'telegram:x:1' }, 'leave-out'],
    ['after /new', LEADING, true, { session: 1 }, 'retire'],
    ['after twenty turns', { ...LEADING, turns: 20 }, true, {}, 'retire'],
    ['once somebody took it away', LEADING, false, {}, 'retire'],
    ['taken away before anyone talked', { state: 'new' }, false, {}, 'retire'],
  ])('[W08] is not used %s', (_, mark, saysSomething, change, kind) => {
    expect(decideBootstrap(mark, saysSomething, { ...TURN, ...change }).kind).toBe(kind);
  });
});

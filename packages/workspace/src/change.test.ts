import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import type { WorkspaceLock } from './write-file.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'main' };
const GUEST: Reader = { kind: 'guest', conversationId: 'crew' };

let folder: string;
let workspace: Workspace;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-change-'));
  workspace = await openWorkspace({ folder, templates: TEMPLATES });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a change that starts with what is there', () => {
  it('[W02] loses none of many at the same time', async () => {
    const views = [workspace.for(OWNER), workspace.for({ ...OWNER, conversationId: 'other' })];
    const add = (line: string) => (text: string | null) => `${text ?? ''}\n${line}`;
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => views[i % 2]?.change('notes.md', add(`line ${i}`))),
    );
    const text = await readFile(join(folder, 'notes.md'), 'utf8');
    expect(new Set(text.match(/^line \d+$/gm)).size).toBe(40);
  });

  it('keeps front matter, sees what a person wrote a moment ago, and may leave it as it is', async () => {
    const view = workspace.for(OWNER);
    await writeFile(join(folder, 'tea.md'), '---\naudience: owner\n---\n\ngreen\n');
    expect(await view.change('tea.md', (text) => `${text} and black`)).toMatchObject({
      kind: 'written',
    });
    expect(await readFile(join(folder, 'tea.md'), 'utf8')).toBe(
      '---\naudience: owner\n---\n\ngreen and black\n',
    );
    expect(await view.change('tea.md', () => null)).toEqual({ kind: 'unchanged' });
  });

  it('[W02] gives a guest nothing of a file that is not theirs, and writes nothing there', async () => {
    await writeFile(join(folder, 'MEMORY.md'), 'a secret\n');
    const given: (string | null)[] = [];
    const result = await workspace.for(GUEST).change('MEMORY.md', (text) => {
      given.push(text);
      return 'mine now';
    });
    expect(given).toEqual([null]);
    expect(result).toMatchObject({ kind: 'refused', reason: 'private' });
    expect(await readFile(join(folder, 'MEMORY.md'), 'utf8')).toBe('a secret\n');
  });

  it('does not replace what is there and cannot be read', async () => {
    const large = 'x'.repeat(1_000_001);
    await writeFile(join(folder, 'large.md'), large);
    const changed = await workspace.for(OWNER).change('large.md', () => 'small');
    expect(changed).toMatchObject({ kind: 'refused', reason: 'too-large' });
    expect((await readFile(join(folder, 'large.md'), 'utf8')).length).toBe(large.length);
  });

  it('[D09] is refused where the lock cannot be had, or was lost', async () => {
    const away: WorkspaceLock = { hold: () => Promise.reject(new Error('no database')) };
    const lost: WorkspaceLock = { hold: (work) => work({ isMine: () => false }) };
    for (const [lock, reason] of [
      [away, 'disk'],
      [lost, 'overtaken'],
    ] as const) {
      const here = await openWorkspace({ folder, templates: TEMPLATES, lock });
      const view = here.for(OWNER);
      expect(await view.change('a.md', () => 'a')).toMatchObject({ kind: 'refused', reason });
      expect(await view.write('a.md', 'a')).toMatchObject({ kind: 'refused', reason });
    }
    await expect(readFile(join(folder, 'a.md'))).rejects.toThrow('ENOENT');
  });
});

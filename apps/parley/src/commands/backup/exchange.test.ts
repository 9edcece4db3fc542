import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DataFolder, locateDataFolder, lockDataFolder } from '../../data-folder.ts';
import { outcomeOf, planFile, restoreHere } from './exchange.ts';

let folder: DataFolder;
const request = { id: 'w1', staging: 'restoring-a' };
beforeEach(() => {
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-here-')), {});
  const staging = join(folder.path, request.staging);
  mkdirSync(join(staging, 'workspace'), { recursive: true });
  writeFileSync(join(staging, 'workspace', 'SOUL.md'), 'restored');
  mkdirSync(folder.workspace);
  writeFileSync(join(folder.workspace, 'SOUL.md'), 'mine');
});
afterEach(() => rmSync(folder.path, { recursive: true }));

function plan(text: string): void {
  writeFileSync(planFile(join(folder.path, request.staging)), text);
}
function planOf(more: object): object {
  const [from, to] = [join(folder.path, 'none.db'), join(folder.path, 'new.db')];
  const carry = { from, to, unfinished: 'hold', forget: [] };
  return {
    file: '/b.tar.gz',
    staging: join(folder.path, request.staging),
    carry,
    commit: null,
    ...more,
  };
}
const soul = () => readFileSync(join(folder.workspace, 'SOUL.md'), 'utf8');

describe('a process that takes over a restored state', () => {
  it('exchanges its own for it and leaves word', async () => {
    const newAside = join(folder.path, 'before');
    const staged = join(folder.path, request.staging, 'workspace');
    const exchanges = [{ name: 'workspace', path: folder.workspace, staged }];
    plan(JSON.stringify(planOf({ newAside, exchanges })));
    const outcome = await restoreHere(request, folder);
    expect(outcome).toEqual({ id: 'w1', aside: newAside, carried: null, error: null });
    expect(soul()).toBe('restored');
    expect(readFileSync(join(newAside, 'workspace', 'SOUL.md'), 'utf8')).toBe('mine');
    expect(existsSync(folder.restoreMarker)).toBe(false);
    expect(await outcomeOf('w1', folder, 2_000)).toEqual(outcome);
    expect(await outcomeOf('w1', folder, 400)).toBeNull();
  });

  it('continues with its own when there is no plan, or another process has the folder', async () => {
    plan('{"file": "/b.tar.gz"}');
    expect((await restoreHere(request, folder)).error).toContain('newAside');
    plan(JSON.stringify(planOf({ newAside: join(folder.path, 'x'), exchanges: [] })));
    const lock = lockDataFolder(folder);
    expect((await restoreHere(request, folder)).error).toContain('Another Parley is running');
    lock.release();
    expect(soul()).toBe('mine');
  });
});

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger, systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { openWorkspace } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WORKSPACE_TEMPLATES } from './data-folder.ts';
import { createSharedLock, runWithLease, type SharedLockDeps } from './shared-lock.ts';

describe('a lock that processes share', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openMemoryStore({ clock: Date.now });
  });
  afterEach(() => store.close());

  const lockOf = (owner: string, change: Partial<SharedLockDeps> = {}) =>
    createSharedLock({
      leases: store.leases,
      name: 'workspace:main',
      owner,
      clock: Date.now,
      monotonic: systemTime.monotonic,
      random: Math.random,
      log: silentLogger,
      ...change,
    });

  it('[D09] admits one holder at a time, across processes, and returns the result of the work', async () => {
    const locks = [lockOf('one'), lockOf('two'), lockOf('three')];
    let inside = 0;
    let most = 0;
    const given = await Promise.all(
      [...locks, ...locks, ...locks].map((lock, i) =>
        lock.hold(async (hold) => {
          inside += 1;
          most = Math.max(most, inside);
          await sleep(5);
          inside -= 1;
          return hold.isMine() ? i : -1;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(given).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('is released if the work fails', async () => {
    const [one, two] = [lockOf('one'), lockOf('two')];
    await expect(one.hold(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
    expect(await two.hold(async () => 'next')).toBe('next');
  });

  it('is held until the work is done, although waiting for the lock is limited', async () => {
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    let isMine = false;
    const working = lockOf('one').hold(async (hold) => {
      await over;
      isMine = hold.isMine();
    });
    await sleep(50);
    const impatient = lockOf('two', { patienceMs: 7_000 }).hold(async () => 'in');
    await expect(impatient).rejects.toMatchObject({ code: 'workspace-busy' });
    end();
    await working;
    expect(isMine).toBe(true);
  });

  it('[D09] reports a lost lock to its holder before any file is written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-shared-'));
    const { log, lines } = createRecordingLogger();
    const lock = lockOf('one', {
      leases: { ...store.leases, renew: () => Promise.reject(new Error('the network is away')) },
      log,
    });
    const workspace = await openWorkspace({ folder, templates: WORKSPACE_TEMPLATES, lock });
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    // Simulates a machine that is suspended for a while.
    const written = view.change('notes.md', () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_600);
      return 'from long ago';
    });
    expect(await written).toMatchObject({ kind: 'refused', reason: 'overtaken' });
    expect(readdirSync(folder)).not.toContain('notes.md');
    expect(lines.length).toBeLessThan(3);
    rmSync(folder, { recursive: true });
  });
});

describe('work that must not run in two processes at once', () => {
  it('[D09] is done by the first process, and never by two processes at the same time', async () => {
    const store = await openMemoryStore({ clock: Date.now });
    const deps = {
      leases: store.leases,
      name: 'soul:main',
      clock: Date.now,
      monotonic: systemTime.monotonic,
      log: silentLogger,
    };
    const done: string[] = [];
    const begin = (owner: string) =>
      runWithLease({ ...deps, owner }, async () => {
        await sleep(20);
        done.push(owner);
      });
    const results = await Promise.all([begin('one'), begin('two'), begin('three')]);
    expect(done).toEqual(['one']);
    expect(results.map(({ kind }) => kind)).toEqual(['done', 'busy', 'busy']);
    expect(await begin('two')).toMatchObject({ kind: 'done' });
    await store.close();
  });
});

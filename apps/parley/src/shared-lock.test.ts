import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordingLogger, silentLogger } from '@parley/contracts';
import { openStore, type Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type SharedLockDeps, sharedLock } from './shared-lock.ts';
import { whileHeld } from './while-held.ts';
import { WORKSPACE_TEMPLATES } from './workspace-templates.ts';

const postgresUrl = inject('postgresUrl');

describe('a lock that processes share', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore({ url: 'sqlite::memory:', clock: Date.now });
  });
  afterEach(() => store.close());

  const lockOf = (owner: string, change: Partial<SharedLockDeps> = {}) =>
    sharedLock({
      leases: store.leases,
      name: 'workspace:main',
      owner,
      clock: Date.now,
      random: Math.random,
      log: silentLogger,
      ...change,
    });

  it('[D09] lets one at a time in, of this process and of others, and gives back what the work gave', async () => {
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

  it('is free again when the work failed', async () => {
    const [one, two] = [lockOf('one'), lockOf('two')];
    await expect(one.hold(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
    expect(await two.hold(async () => 'next')).toBe('next');
  });

  it('is kept as long as the work takes, and does not wait for ever', async () => {
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

  it('[D09] tells whoever lost it before anything is written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-shared-'));
    const { log, lines } = recordingLogger();
    const lock = lockOf('one', {
      leases: { ...store.leases, renew: () => Promise.reject(new Error('the network is away')) },
      log,
    });
    const workspace = await openWorkspace({ folder, templates: WORKSPACE_TEMPLATES, lock });
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    // As long as a machine that was put to sleep.
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

describe('work that one of all processes does', () => {
  it('[D09] is done by whoever comes first, and by nobody else meanwhile', async () => {
    const store = await openStore({ url: 'sqlite::memory:', clock: Date.now });
    const deps = { leases: store.leases, name: 'soul:main', clock: Date.now, log: silentLogger };
    const done: string[] = [];
    const begin = (owner: string) =>
      whileHeld({ ...deps, owner }, async () => {
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

describe.runIf(postgresUrl)('a workspace that processes share', () => {
  const schema = `parley_${randomBytes(8).toString('hex')}`;
  const url = `${postgresUrl}?options=-c%20search_path%3D${schema}`;
  const admin = new Client({ connectionString: postgresUrl ?? '' });
  const running: ChildProcess[] = [];
  let folder: string;
  beforeAll(async () => {
    await admin.connect();
    await admin.query(`create schema ${schema}`);
    await (await openStore({ url, clock: Date.now })).close();
  });
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'parley-shared-')), 'workspace');
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  afterAll(async () => {
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  });

  function writer(name: string, count: number) {
    const program = join(import.meta.dirname, 'testing/memory-writer.ts');
    const child = spawn(process.execPath, [program, folder, url, name, String(count)]);
    running.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    return { child, said: () => said, ended: once(child, 'exit') };
  }
  const saved = (): string[] =>
    readFileSync(join(folder, 'memory/project.md'), 'utf8').match(/\w+ knows \d+/g) ?? [];

  it('[D09] [W02] loses none of the memories that two processes save at the same time', async () => {
    const writers = [writer('ada', 200), writer('bob', 200)];
    await Promise.all(writers.map(({ ended }) => ended));
    const said = writers.map((each) => each.said().split('\n').slice(1).join('\n'));
    expect(said).toEqual(['done\n', 'done\n']);
    expect(new Set(saved()).size).toBe(400);
    expect(saved()).toHaveLength(400);
    const left = readdirSync(join(folder, 'memory')).filter((file) => file.endsWith('.tmp'));
    expect(left).toEqual([]);
    // Each template was copied by one of them, and whole.
    const made = writers.flatMap((each) => each.said().split('\n')[0]?.split(' ').slice(1) ?? []);
    expect(made.toSorted()).toEqual([...new Set(made)].toSorted());
    expect(made).toContain('AGENTS.md');
  });

  it('[W07] reads what another process has written since, although nobody tells it', async () => {
    await writer('ada', 1).ended;
    const here = await openWorkspace({ folder, templates: WORKSPACE_TEMPLATES });
    const view = here.for({ kind: 'owner', conversationId: 'c' });
    // Long enough for the file to be kept.
    await sleep(100);
    expect(await view.read('memory/project.md')).toMatchObject({
      text: expect.stringContaining('ada knows 0'),
    });
    await writer('bob', 1).ended;
    expect(await view.read('memory/project.md')).toMatchObject({
      text: expect.stringContaining('bob knows 0'),
    });
  });

  it('[D09] goes on within ten seconds when the process that wrote was killed', async () => {
    const victim = writer('ada', 100_000);
    await expect.poll(() => readSaved().length).toBeGreaterThan(20);
    const store = await openStore({ url, clock: Date.now });
    // Where it stands still it either holds the lease or does not, and must not be killed in between.
    const holds = async (): Promise<boolean> => {
      victim.child.kill('SIGSTOP');
      const held = (await store.leases.held(Date.now())).some(({ owner }) => owner === 'ada');
      if (!held) victim.child.kill('SIGCONT');
      return held;
    };
    await expect.poll(holds, { interval: 7 }).toBe(true);
    victim.child.kill('SIGKILL');
    const before = readSaved().length;
    const heir = writer('bob', 1);
    const [held] = await store.leases.held(Date.now());
    expect(held?.until).toBeLessThan(Date.now() + 10_000);
    await expect.poll(heir.said, { timeout: 20_000 }).toContain('done');
    expect(readSaved()).toHaveLength(before + 1);
    await store.close();
  });

  function readSaved(): string[] {
    try {
      return saved();
    } catch {
      return []; // It is not there yet.
    }
  }
});

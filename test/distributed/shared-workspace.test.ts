import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scaleRunCount } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createFreshDatabase, type FreshDatabase } from '../services/fresh-database.ts';
import { writeMemories } from './write-memories.ts';

const postgresUrl = inject('postgresUrl');
/** The number of memories that each of two processes saves concurrently. */
const MEMORIES = scaleRunCount(200);
const TEMPLATES = join(import.meta.dirname, '../../config/workspace');

describe.runIf(postgresUrl)('a workspace shared by several processes', () => {
  let database: FreshDatabase;
  const running: ChildProcess[] = [];
  let folder: string;
  beforeAll(async () => {
    database = await createFreshDatabase(postgresUrl ?? '');
    await (await openStore({ url: database.url, clock: Date.now })).close();
  });
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'parley-shared-')), 'workspace');
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  afterAll(() => database.drop());

  /** Starts a writer in a separate process. */
  function writerApart(name: string, count: number) {
    const program = join(import.meta.dirname, 'memory-writer-program.ts');
    const child = spawn(process.execPath, [program, folder, database.url, name, String(count)]);
    running.push(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    return { child, said: () => said, ended: once(child, 'exit') };
  }
  /** A writer in this process, which shares no object with the others; resolves with its output. */
  async function write(name: string, count: number): Promise<readonly string[]> {
    const said: string[] = [];
    await writeMemories({ folder, url: database.url, name, count }, (line) => said.push(line));
    return said;
  }
  const saved = (): string[] =>
    readFileSync(join(folder, 'memory/project.md'), 'utf8').match(/\w+ knows \d+/g) ?? [];

  it('[D09] [W02] loses none of the memories that two processes save concurrently', async () => {
    const writers = [writerApart('ada', MEMORIES), writerApart('bob', MEMORIES)];
    await Promise.all(writers.map(({ ended }) => ended));
    const said = writers.map((each) => each.said().split('\n').slice(1).join('\n'));
    expect(said).toEqual(['done\n', 'done\n']);
    expect(new Set(saved()).size).toBe(2 * MEMORIES);
    expect(saved()).toHaveLength(2 * MEMORIES);
    const left = readdirSync(join(folder, 'memory')).filter((file) => file.endsWith('.tmp'));
    expect(left).toEqual([]);
    // Each template was copied completely by one of the processes.
    const made = writers.flatMap((each) => each.said().split('\n')[0]?.split(' ').slice(1) ?? []);
    expect(made.toSorted()).toEqual([...new Set(made)].toSorted());
    expect(made).toContain('AGENTS.md');
  });

  it('[W07] sees what another process has written in the meantime, without being notified', async () => {
    await write('ada', 1);
    const here = await openWorkspace({ folder, templates: TEMPLATES });
    const view = here.for({ kind: 'owner', conversationId: 'c' });
    // Long enough for the file to be cached.
    await sleep(100);
    expect(await view.read('memory/project.md')).toMatchObject({
      text: expect.stringContaining('ada knows 0'),
    });
    await write('bob', 1);
    expect(await view.read('memory/project.md')).toMatchObject({
      text: expect.stringContaining('bob knows 0'),
    });
  });

  it('[D09] can be written again within ten seconds when the writing process was killed', async () => {
    const victim = writerApart('ada', 100_000);
    await expect.poll(() => readSaved().length).toBeGreaterThan(20);
    const store = await openStore({ url: database.url, clock: Date.now });
    // While paused, the writer either holds the lease or does not; it must be killed while it holds
    // the lease.
    const holds = async (): Promise<boolean> => {
      victim.child.kill('SIGSTOP');
      // The database still executes what the writer sent before the pause, such as the release of
      // the lease.
      await sleep(100);
      const held = (await store.leases.held()).some(({ owner }) => owner === 'ada');
      if (!held) victim.child.kill('SIGCONT');
      return held;
    };
    await expect.poll(holds, { interval: 7 }).toBe(true);
    victim.child.kill('SIGKILL');
    const before = readSaved().length;
    const heir = write('bob', 1);
    const [held] = await store.leases.held();
    expect(held?.leftMs).toBeLessThan(10_000);
    expect(await heir).toContain('done');
    expect(readSaved()).toHaveLength(before + 1);
    await store.close();
  });

  function readSaved(): string[] {
    try {
      return saved();
    } catch {
      return []; // The file does not exist yet.
    }
  }
});

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrashableWork } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSuspectWork } from './ended-process.ts';
import { WORK_IN_PROGRESS } from './work-lines.ts';
import { type OpenWorkRecord, openWorkRecord } from './work-record.ts';

const INGRESS: CrashableWork = { kind: 'ingress', key: 'web default main m1' };
const CLAIM: CrashableWork = { kind: 'claim', key: 'web:default:main' };
const { log, lines } = createRecordingLogger();

let folder: string;
const opened: OpenWorkRecord[] = [];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'parley-work-')), 'working');
});
afterEach(() => {
  for (const record of opened.splice(0)) record.close();
  rmSync(join(folder, '..'), { recursive: true });
});

/**
 * Opens a record the way a starting process does. Other processes count as ended unless they are
 * listed in `running`.
 */
function open(name = 'all-host-1', running: readonly string[] = []): OpenWorkRecord {
  const hasEnded = (one: string) => !running.includes(one);
  const record = openWorkRecord({ folder, name, hasEnded, clock: () => 1_000, log });
  record.markCounted();
  opened.push(record);
  return record;
}
/** A promise that never resolves, like work in a process that dies. */
const never = () => new Promise<never>(() => {});
const blamed = (record: OpenWorkRecord) => record.ended.map(findSuspectWork);

describe('the record of work', () => {
  it('[D13] reports only unfinished work to the next start', async () => {
    const first = open();
    await first.run(INGRESS, async () => {});
    await expect(first.run(INGRESS, async () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    void first.run(CLAIM, never);
    const second = open();
    expect(blamed(second)).toEqual([{ hung: [], died: [CLAIM] }]);
    expect(second.endsOf(CLAIM)).toMatchObject({ hangs: 0, deaths: 1 });
    expect(second.endsOf(INGRESS)).toEqual({ hangs: 0, deaths: 0 });
  });

  it('[D13] counts ended processes over several starts until the work completes', async () => {
    void open().run(CLAIM, never);
    void open().run(CLAIM, never);
    const third = open();
    expect(third.endsOf(CLAIM)).toMatchObject({ deaths: 2 });
    await third.run(CLAIM, async () => {});
    expect(third.endsOf(CLAIM)).toEqual({ hangs: 0, deaths: 0 });
    expect(open().endsOf(CLAIM)).toEqual({ hangs: 0, deaths: 0 });
  });

  it('[D13] is left unchanged if it belongs to a running process', () => {
    void open('worker-host-1').run(CLAIM, never);
    expect(blamed(open('worker-host-2', ['worker-host-1']))).toEqual([]);
    expect(blamed(open('worker-host-1', ['worker-host-2']))).toEqual([{ hung: [], died: [CLAIM] }]);
  });

  it('[D13] is counted by the next start if a start is killed while counting', () => {
    void open().run(CLAIM, never);
    const options = { folder, name: 'all-host-2', hasEnded: () => true, clock: () => 1_000, log };
    expect(openWorkRecord(options).ended).toHaveLength(1);
    expect(blamed(open('all-host-3'))).toEqual([{ hung: [], died: [CLAIM] }]);
  });

  it('[D13] identifies the work item that is currently running', async () => {
    const record = open();
    // biome-ignore lint/security/noGlobalEval: the inspector evaluates it in this very way.
    const current = () => JSON.parse(eval(WORK_IN_PROGRESS)).work;
    const seen: unknown[] = [];
    const work = async (): Promise<void> => {
      await null;
      seen.push(current());
    };
    await Promise.all([record.run(INGRESS, work), record.run(CLAIM, work)]);
    expect(seen).toEqual([1, 2]);
    expect(current()).toBeNull();
  });

  it('keeps its file small, and removes it on an orderly exit', async () => {
    const record = open();
    const long: CrashableWork = { kind: 'ingress', key: 'x'.repeat(10_000) };
    for (let nth = 0; nth < 2_000; nth += 1) await record.run(long, async () => {});
    expect(readFileSync(join(folder, 'all-host-1')).length).toBeLessThan(600_000);
    record.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('[D06] lets work continue without a record if the disk cannot store one', async () => {
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(folder, 'a file in its place');
    const record = open();
    expect(await record.run(CLAIM, async () => 'done')).toBe('done');
    expect(lines.at(-1)).toContain('work is not recorded');
  });
});

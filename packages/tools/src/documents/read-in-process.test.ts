import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { isDueToday } from '@parley/core/testing';
import { describe, expect, inject, it } from 'vitest';
import { DOCUMENTS, readInProcess } from './read-in-process.ts';

const PROCESS = new URL('./testing/broken-process.ts', import.meta.url);
const BROKEN = { ...DOCUMENTS, entry: PROCESS };
const order = (deed: string, timeoutMs = 20_000, signal = new AbortController().signal) => ({
  bytes: Buffer.from(deed),
  numbers: [0, 100],
  mostBytes: 1_000,
  limits: { memoryBytes: 100_000_000, timeoutMs },
  signal,
});

/** The child processes of a process that read documents. */
function readersOf(parent: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id))
    .filter((id) => {
      try {
        const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
        return (
          new RegExp(`\\) \\S ${parent} `).test(stat) &&
          readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('-process.ts')
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The CPU time of a process, in hundredths of a second. */
function ticksOf(id: number): number {
  return Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[11]);
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await later(10);
  }
}

describe.runIf(inject('procPath'))('the process that reads a document', () => {
  const ends = [
    ['crashes', 'crash', 'crash'],
    ['ends without a result', 'exit', 'crash'],
    ['writes half a result', 'garbage', 'crash'],
    ['writes something else', 'other json', 'crash'],
    ['never stops writing', 'talkative', 'crash'],
    ['fills buffers', 'buffers', 'memory'],
    ['fills its heap', 'heap', 'memory'],
    ['took too much before it was looked at', 'too late', 'memory'],
  ];
  it.each(ends.filter((_, nth) => isDueToday(nth, 2)))(
    '[G19] is abandoned if it %s, and leaves no process behind',
    async (_what, deed, why) => {
      expect(await readInProcess(BROKEN, order(deed))).toMatchObject({ kind: 'failed', why });
      expect(readersOf(process.pid)).toEqual([]);
    },
  );

  it.each(['busy', 'idle'])('[G19] is killed when it hangs (%s)', async (deed) => {
    expect(await readInProcess(BROKEN, order(deed, 1_500))).toMatchObject({
      kind: 'failed',
      why: 'time',
    });
    expect(readersOf(process.pid)).toEqual([]);
  });

  it('[G19] does not cause an error in the caller if it cannot be started', async () => {
    const entry = new URL('../../../media/src/testing/missing-process.ts', import.meta.url);
    const outcome = await readInProcess({ ...DOCUMENTS, entry }, order('x'));
    expect(outcome).toMatchObject({ kind: 'failed', why: 'crash' });
  });

  it('[G19] has no access to files, programs or the environment', async () => {
    const outcome = await readInProcess(BROKEN, order('nosy'));
    expect(outcome).toMatchObject({ kind: 'read', result: { text: 'reached: ' } });
  });

  // The kernel prevents the process from opening anything, because Node's permissions do not apply
  // to native code.
  it.runIf(inject('prlimitPath')).each([
    [false, 'its own source, a socket'],
    [true, ''],
  ])(
    '[G19] with native code (%s) can open files and sockets afterwards: %s',
    async (isNative, opened) => {
      const outcome = await readInProcess({ ...BROKEN, isNative }, order('opens'));
      expect(outcome).toMatchObject({ kind: 'read', result: { text: `reached: ${opened}` } });
    },
  );

  it.runIf(inject('prlimitPath'))(
    '[G19] is limited by the kernel as well, in case the memory check comes late or Parley is killed',
    async () => {
      const stop = new AbortController();
      const running = readInProcess(BROKEN, order('busy', 20_000, stop.signal));
      const [, data, seconds] = await until(() => {
        const [id] = readersOf(process.pid);
        const limits = id === undefined ? '' : readFileSync(`/proc/${id}/limits`, 'utf8');
        const bounds = /Max cpu time +(\d+).*Max data size +(\d+)/s.exec(limits);
        return bounds === null ? undefined : ['', Number(bounds[2]), Number(bounds[1])];
      });
      stop.abort();
      expect(seconds).toBe(40);
      expect(data).toBeLessThan(800_000_000);
      expect(await running).toMatchObject({ kind: 'failed', why: 'stopped' });
    },
  );

  it('[D11] ends together with Parley', async () => {
    const program = `
      import { DOCUMENTS, readInProcess } from ${JSON.stringify(import.meta.resolve('./read-in-process.ts'))};
      process.on('SIGTERM', () => process.exit(0));
      await readInProcess({ ...DOCUMENTS, entry: new URL(${JSON.stringify(PROCESS)}) }, {
        bytes: Buffer.from('busy'), numbers: [0, 100], mostBytes: 1_000, signal: new AbortController().signal,
        limits: { memoryBytes: 100_000_000, timeoutMs: 20_000 },
      });`;
    const parley = spawn(process.execPath, ['--input-type=module', '-e', program]);
    // Half a second of CPU time means that the process has started and is in its endless loop.
    const reader = await until(() => readersOf(parley.pid).find((id) => ticksOf(id) > 50));
    parley.kill('SIGTERM');
    await once(parley, 'exit');
    const isGone = () => {
      try {
        return /^State:\s+Z/m.test(readFileSync(`/proc/${reader}/status`, 'utf8')) || undefined;
      } catch {
        return true;
      }
    };
    expect(await until(isGone)).toBe(true);
  });
});

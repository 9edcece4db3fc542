import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFullRun } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openSandboxScene, type SandboxScene } from './testing/sandbox-scene.ts';

/**
 * The length of a command's output, in characters; larger than the memory that the command may use
 * in this test.
 */
const OUTPUT = isFullRun() ? 1_000_000_000 : 400_000_000;

let scene: SandboxScene;
beforeEach(() => {
  // The folder is on a disk, because writes to memory do not count as disk writes.
  scene = openSandboxScene({}, '/var/tmp');
});
afterEach(() => scene.close());

const counted = (count: number) => count.toLocaleString('en-US');
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.runIf(inject('bubblewrapPath'))('the limits of a command', () => {
  it('[G06] kill a command that ignores SIGTERM, with all its children', async () => {
    const command = 'trap "" TERM HUP INT; (trap "" TERM; sleep 3; touch late) & sleep 60';
    const result = await scene.run(command, 500);
    expect(result).toMatchObject({ exitCode: null, ended: 'time' });
    await later(3_000);
    expect(existsSync(join(scene.workspace, 'late'))).toBe(false);
  });

  it('[G06] keep the output of a command whose turn is stopped', async () => {
    const stop = new AbortController();
    const running = scene.sandbox.run('echo started; touch started; sleep 60', {
      signal: stop.signal,
    });
    while (!existsSync(join(scene.workspace, 'started'))) await later(20);
    stop.abort();
    expect(await running).toMatchObject({ ended: 'stopped', output: 'started\n' });
    const again = scene.sandbox.run('touch again', { signal: stop.signal });
    expect(await again).toMatchObject({ ended: 'stopped' });
  });

  it('[G06] leave no process behind if the command is stopped while its sandbox is being created', async () => {
    const moments = Array.from({ length: 90 }, (_, index) => index / 3);
    const stopAt = async (ms: number): Promise<void> => {
      const stop = new AbortController();
      const running = scene.sandbox.run('sleep 5; touch late', { signal: stop.signal });
      await later(ms);
      stop.abort();
      // Resolves only when both pipes are closed; every process in the sandbox holds them open.
      expect(await running).toMatchObject({ ended: 'stopped' });
    };
    // Several sandboxes run concurrently, because one that has to wait for a CPU core can be
    // stopped in states that are otherwise too short.
    const inTurn = async (first: number): Promise<void> => {
      for (let at = first; at < moments.length; at += 6) await stopAt(moments[at] ?? 0);
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(inTurn));
    expect(existsSync(join(scene.workspace, 'late'))).toBe(false);
  });

  it('[G06] kill a process that has left bubblewrap’s group but is not yet bound to end with it', async () => {
    // Simulates a short-lived state of bubblewrap: its child has its own session and is reported.
    const late = join(scene.workspace, 'late');
    const started = join(scene.workspace, 'started');
    const program = join(scene.data, 'bwrap');
    const script = `
      const { readlinkSync, writeFileSync, writeSync } = require('node:fs');
      const command = ${JSON.stringify(`setTimeout(() => fs.writeFileSync(${JSON.stringify(late)}, ''), 5_000)`)};
      const options = { detached: true, stdio: 'inherit' };
      const inside = require('node:child_process').spawn(process.execPath, ['-e', command], options);
      const [namespace] = /[0-9]+/.exec(readlinkSync('/proc/self/ns/pid'));
      const report = { 'child-pid': inside.pid, 'pid-namespace': Number(namespace) };
      writeSync(3, JSON.stringify(report) + '\\n');
      writeFileSync(${JSON.stringify(started)}, '');
      setTimeout(() => {}, 60_000);`;
    writeFileSync(program, `#!${process.execPath}\n${script}`, { mode: 0o755 });
    const stop = new AbortController();
    const running = scene.open({ program }).run('true', { signal: stop.signal });
    while (!existsSync(started)) await later(20);
    stop.abort();
    expect(await running).toMatchObject({ ended: 'stopped' });
    expect(existsSync(late)).toBe(false);
  });

  it('[G06] kill a fork bomb', async () => {
    // The bomb is limited: an endless one starts thousands of processes between two checks and
    // blocks the whole machine.
    const bomb =
      'bomb() { if [ $1 = 0 ]; then sleep 60; else bomb $(($1 - 1)) | bomb $(($1 - 1)) & fi; }';
    const { ended, output } = await scene.run(`${bomb}; bomb 9; sleep 60`, 15_000);
    // The kernel's own limit does not apply to root, only to other users.
    expect(ended === 'processes' || /fork/i.test(output), `${ended}: ${output}`).toBe(true);
  });

  it('[G06] do not allow more processes than configured', async () => {
    const sandbox = scene.open({ limits: { processes: 20 } });
    const command = 'for i in $(seq 60); do sleep 5 & done; wait; echo finished';
    const { output, ended } = await sandbox.run(command, { signal: new AbortController().signal });
    expect(ended === 'processes' || /fork/i.test(output)).toBe(true);
  });

  it('[G06] do not allow more memory than configured, per process and in total', async () => {
    const sandbox = scene.open({ limits: { memoryBytes: 100_000_000 } });
    const { signal } = new AbortController();
    const alone = await sandbox.run(
      `x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo finished`,
      {
        signal,
      },
    );
    expect(alone.output).not.toContain('finished');
    const part = `(x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep 30) &`;
    const together = await sandbox.run(`${part.repeat(8)} wait; echo finished`, { signal });
    expect(together).toMatchObject({ ended: 'memory' });
  });

  it('[G06] limit writes to /tmp, to shared memory, and to a file', async () => {
    const sandbox = scene.open({ limits: { scratchBytes: 1_000_000, fileBytes: 2_000_000 } });
    const write = (path: string) => `head -c 5000000 /dev/zero > ${path}; stat -c %s ${path};`;
    const command = write('/tmp/x') + write('/dev/shm/x') + write('x');
    const { output } = await sandbox.run(command, { signal: new AbortController().signal });
    const sizes = output
      .split('\n')
      .filter((line) => /^\d+$/.test(line))
      .map(Number);
    expect(sizes).toHaveLength(3);
    expect(sizes.every((size) => size <= 2_100_000)).toBe(true);
  });

  it.each([
    ['many files', 'head -c 1000000 /dev/zero > file$i'],
    ['the same file again and again', 'head -c 1000000 /dev/zero > file; rm file'],
    ['files with preallocated space', 'fallocate -l 4000000 file$i'],
    [
      'files of children that are never waited for',
      '(head -c 1000000 /dev/zero > file$i &); sleep 0.01',
    ],
  ])('[G06] kill a command that writes more than allowed: %s', async (_what, write) => {
    const sandbox = scene.open({ limits: { diskBytes: 20_000_000 } });
    const command = `echo started; for i in $(seq 60); do ${write}; sleep 0.02; done; sleep 30`;
    const { ended, output, exitCode } = await sandbox.run(command, {
      signal: new AbortController().signal,
    });
    expect({ ended, output, exitCode }).toEqual({
      ended: 'disk',
      output: 'started\n',
      exitCode: null,
    });
  });

  it('[G06] allow writes up to the total limit, but no larger file', async () => {
    const sandbox = scene.open({ limits: { diskBytes: 512_000_000 } });
    const command = 'ulimit -f; head -c 30000000 /dev/zero > a; sleep 0.3; stat -c %s a';
    const { output } = await sandbox.run(command, { signal: new AbortController().signal });
    expect(output).toBe('500000\n30000000\n');
  });

  it('[P10] keep both ends of a huge output and report how much was left out', async () => {
    const before = process.memoryUsage.rss();
    const { output, exitCode } = await scene.run(`echo first; yes | head -c ${OUTPUT}; echo last`);
    expect(exitCode).toBe(0);
    expect(output.length).toBeLessThan(30_200);
    expect(output).toMatch(/^first\n/);
    expect(output).toMatch(/last\n$/);
    expect(output).toContain(
      `[Cut: ${counted(OUTPUT - 29_989)} of ${counted(OUTPUT + 11)} characters of output are left out here.]`,
    );
    expect(process.memoryUsage.rss() - before).toBeLessThan(300_000_000);
  });

  it('[G06] kill the command when Parley ends, in whatever way', async () => {
    const program = `
      import { openSandbox } from ${JSON.stringify(import.meta.resolve('./sandbox.ts'))};
      const sandbox = openSandbox({ workspace: ${JSON.stringify(scene.workspace)}, forbidden: [] });
      await sandbox.run('touch started; sleep 3; touch late', { signal: new AbortController().signal });`;
    const parley = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: 'inherit',
    });
    while (!existsSync(join(scene.workspace, 'started'))) await later(20);
    parley.kill('SIGKILL');
    await later(3_500);
    expect(existsSync(join(scene.workspace, 'late'))).toBe(false);
  });
});

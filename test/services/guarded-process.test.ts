import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startGuarded } from './guarded-process.ts';
import { isRunning } from './is-running.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'parley-guarded-'));

/** A service that writes its process id to `pid` in its folder and then waits. */
const service = (folder: string) => ({
  command: ['/bin/sh', '-c', 'echo $$ > new; mv new pid; exec sleep 60'],
  folder,
  stopSignal: 'TERM' as const,
  isReady: () => existsSync(join(folder, 'pid')),
});

describe('a guarded service', () => {
  it('stops on request and removes its folder', async () => {
    const folder = newFolder();
    const stop = await startGuarded(service(folder));
    await stop();
    expect(existsSync(folder)).toBe(false);
  });

  it('stops when the process that started it is killed without warning', async () => {
    const folder = newFolder();
    const code = `
      import { existsSync } from 'node:fs';
      import { startGuarded } from ${JSON.stringify(join(import.meta.dirname, 'guarded-process.ts'))};
      const folder = ${JSON.stringify(folder)};
      await startGuarded({
        command: ['/bin/sh', '-c', 'echo $$ > new; mv new pid; exec sleep 60'],
        folder,
        stopSignal: 'TERM',
        isReady: () => existsSync(folder + '/pid'),
      });
      console.log('started');
      setInterval(() => undefined, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', code]);
    await once(starter.stdout, 'data');
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    expect(isRunning(pid)).toBe(true);
    starter.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), 30_000);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 30_000);
  });

  it('is reported with its last output when it exits immediately', async () => {
    const folder = newFolder();
    const broken = { ...service(folder), command: ['/bin/sh', '-c', 'echo no room; exit 3'] };
    await expect(startGuarded(broken)).rejects.toThrow('stopped at once: no room');
    expect(existsSync(folder)).toBe(false);
  });
});

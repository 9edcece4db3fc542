import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Order, Report } from './victim-order.ts';

/** One life of Parley on a data folder. */
export interface Victim {
  /** Resolves when it has started; never when it dies before. */
  readonly ready: Promise<void>;
  /** Resolves when it was killed. Rejects, with its last words, when it ended in any other way. */
  readonly dead: Promise<void>;
  isAlive(): boolean;
  /** It kills itself at this point; resolves when it knows. */
  arm(order: Order): Promise<void>;
  kill(): void;
  /** Ends it as a supervisor does, and waits for it. */
  end(): Promise<void>;
}

/** Starts a life; `armed` counts passings from its first breath. */
export function startVictim(folder: string, armed?: Order): Victim {
  const errors = openSync(join(folder, 'victim.err'), 'a');
  const order = armed === undefined ? [] : [JSON.stringify(armed)];
  const child = fork(join(import.meta.dirname, 'victim.ts'), [folder, ...order], {
    stdio: ['ignore', errors, errors, 'ipc'],
  });
  closeSync(errors);
  const ready = told(child, 'ready');
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const dead = exited.then(({ code, signal }) => {
    if (signal === 'SIGKILL') return;
    throw new Error(`The victim ended by itself (code ${code}, ${signal}): ${lastWords(folder)}`);
  });
  dead.catch(() => {}); // Somebody may begin to wait for it only later.
  return {
    ready,
    dead,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    arm(next) {
      const armedNow = told(child, 'armed');
      child.send(next);
      return armedNow;
    },
    kill: () => void child.kill('SIGKILL'),
    async end() {
      child.kill('SIGTERM');
      const { code } = await exited;
      if (code !== 0) throw new Error(`The victim did not end well: ${lastWords(folder)}`);
    },
  };
}

function told(child: ChildProcess, what: Report): Promise<void> {
  return new Promise((resolve) => {
    const listen = (message: unknown): void => {
      if (message !== what) return;
      child.off('message', listen);
      resolve();
    };
    child.on('message', listen);
  });
}

function lastWords(folder: string): string {
  return readFileSync(join(folder, 'victim.err'), 'utf8').slice(-2_000);
}

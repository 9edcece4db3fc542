import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type VictimLife, type VictimOrder, VictimReport } from './victim-order.ts';

/** How a victim exited. */
export type VictimExit =
  | { readonly kind: 'killed' }
  /** The process exited with code 0 after SIGTERM. */
  | { readonly kind: 'in-order' }
  | { readonly kind: 'by-itself'; readonly wasReady: boolean; readonly lastOutput: string };

/** One run of a Parley process. */
export interface Victim {
  /** Resolves when the process has started or exited. */
  readonly started: Promise<void>;
  readonly dead: Promise<VictimExit>;
  isReady(): boolean;
  isAlive(): boolean;
  /**
   * Sends an order, or cancels it with null; resolves when the process has confirmed that, or has
   * exited.
   */
  tell(command: VictimOrder | null): Promise<void>;
  kill(): void;
  /** Stops the process with SIGTERM, as a supervisor does, and waits for its exit. */
  end(): Promise<VictimExit>;
}

/** Starts a process; `hear` receives its reports. */
export function startVictim(life: VictimLife, hear: (report: VictimReport) => void): Victim {
  const errors = openSync(join(life.folder, 'victim.err'), 'a');
  const child = fork(join(import.meta.dirname, 'victim.ts'), [JSON.stringify(life)], {
    stdio: ['ignore', errors, errors, 'ipc'],
    // Enables the compile cache from the start, because the program's own call of
    // `enableCompileCache` would be too late.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), ...process.env },
  });
  closeSync(errors);
  let isReady = false;
  let isEnding = false;
  const started = Promise.withResolvers<void>();
  child.on('message', (message) => {
    const report = VictimReport.parse(message);
    if (report.kind === 'ready') {
      isReady = true;
      started.resolve();
    }
    hear(report);
  });
  const dead = new Promise<VictimExit>((resolve) => {
    child.once('exit', (code, signal) => {
      started.resolve();
      if (signal === 'SIGKILL') resolve({ kind: 'killed' });
      else if (isEnding && code === 0) resolve({ kind: 'in-order' });
      else {
        const lastOutput = `code ${code}, ${signal}: ${readLastOutput(life.folder)}`;
        resolve({ kind: 'by-itself', wasReady: isReady, lastOutput });
      }
    });
  });
  return {
    started: started.promise,
    dead,
    isReady: () => isReady,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    tell: (command) => sendOrder(child, command, dead),
    kill: () => void child.kill('SIGKILL'),
    end() {
      isEnding = true;
      child.kill('SIGTERM');
      return dead;
    },
  };
}

async function sendOrder(
  child: ChildProcess,
  command: VictimOrder | null,
  dead: Promise<VictimExit>,
): Promise<void> {
  const { promise: obeys, resolve } = Promise.withResolvers<void>();
  const listen = (message: unknown): void => {
    if (VictimReport.parse(message).kind === 'obeys') resolve();
  };
  child.on('message', listen);
  // The process may already have exited, in which case its exit is reported instead.
  child.send({ command }, () => undefined);
  await Promise.race([obeys, dead]);
  child.off('message', listen);
}

function readLastOutput(folder: string): string {
  return readFileSync(join(folder, 'victim.err'), 'utf8').slice(-2_000);
}

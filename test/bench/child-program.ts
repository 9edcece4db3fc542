import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';

const Told = z.union([z.object({ result: z.unknown() }), z.object({ failure: z.string() })]);

/** A program of this folder that runs beside and answers orders, one at a time. */
export interface ChildProgram {
  /** The result of an order; without one, the greeting. Rejects with what went wrong there. */
  ask(order?: object): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts a program of this folder, with `flags` for node; it says hello by itself. */
export function startChild(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): ChildProgram {
  const child = fork(join(import.meta.dirname, file), args, {
    execArgv: [...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    ask: (order) => nextResult(child, file, order),
    close: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

function nextResult(child: ChildProcess, file: string, order?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${file} ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      const told = Told.parse(message);
      if ('failure' in told) reject(new Error(`${file}: ${told.failure}`));
      else resolve(told.result);
    });
    if (order !== undefined) child.send(order);
  });
}

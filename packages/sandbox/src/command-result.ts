import { constants } from 'node:os';

/** Why a command was ended before its time. */
export type Ending = 'time' | 'stopped' | 'processes' | 'memory' | 'disk';

/** How a command ran. */
export interface CommandResult {
  /** Both outputs in the order of writing, cut in the middle. */
  readonly output: string;
  /** Null where it was ended by Parley. */
  readonly exitCode: number | null;
  /** Such as SIGSEGV, when one ended it: its exit code is then 128 and the signal's number. */
  readonly signal: string | null;
  /** What Parley ended it for; null when it ended by itself. */
  readonly ended: Ending | null;
  /** In ms. */
  readonly tookMs: number;
}

/** The name of the signal behind an exit code, if there is one. */
export function signalOf(exitCode: number): string | null {
  const number = exitCode - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

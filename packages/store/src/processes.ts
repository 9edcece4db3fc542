import { z } from 'zod';

/** What a process does: channels and web server, turns, or both. */
export type ProcessRole = 'all' | 'gateway' | 'worker';

/** They say every few seconds that they run; one that has not been heard of for so long is gone. In ms. */
export const PROCESS_GONE_AFTER_MS = 15_000;

/** What must be alike in all processes of a deployment. */
export const ProcessFacts = z.object({
  agent: z.string(),
  /** Id in the folder itself; null where it cannot be read. */
  workspace: z.string().nullable(),
  /** A hash for each section of the settings, without secrets and what is a machine's own. */
  settings: z.record(z.string(), z.string()),
  /** How far its clock is ahead of the database's, in ms. */
  clockAheadMs: z.number(),
});
export type ProcessFacts = Readonly<z.infer<typeof ProcessFacts>>;

/** A process of the deployment as the others see it. */
export interface RunningProcess {
  readonly id: string;
  readonly role: ProcessRole;
  /** Name of its machine, and its number there. */
  readonly host: string;
  readonly pid: number;
  /** Of its web server, for example `http://127.0.0.1:7411`. */
  readonly address: string;
  readonly version: string;
  readonly startedAt: number;
  readonly facts?: ProcessFacts;
}

/** The processes that share this database. For people and for finding a gateway; nothing else relies on it. */
export interface ProcessRepository {
  /**
   * Says that a process runs; rows that nobody has renewed for a day are removed. Resolves with the time on the
   * database's clock.
   */
  beat(process: RunningProcess, now: number): Promise<number>;
  /** The time on the database's clock, in ms since 1970; on SQLite it is this machine's. */
  time(): Promise<number>;
  /** The process ends. */
  leave(id: string): Promise<void>;
  /** Those that have been heard of since then (ms since 1970), the oldest first. */
  list(since: number): Promise<readonly RunningProcess[]>;
}

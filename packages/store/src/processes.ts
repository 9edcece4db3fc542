/** What a process does: channels and web server, turns, or both. */
export type ProcessRole = 'all' | 'gateway' | 'worker';

/** They say every few seconds that they run; one that has not been heard of for so long is gone. In ms. */
export const PROCESS_GONE_AFTER_MS = 15_000;

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
}

/** The processes that share this database. For people and for finding a gateway; nothing else relies on it. */
export interface ProcessRepository {
  /** Says that a process runs; rows that nobody has renewed for a day are removed. */
  beat(process: RunningProcess, now: number): Promise<void>;
  /** The process ends. */
  leave(id: string): Promise<void>;
  /** Those that have been heard of since then (ms since 1970), the oldest first. */
  list(since: number): Promise<readonly RunningProcess[]>;
}

import type { Backlog, PageSession, RunningProcess, SoulState, Store } from '@parley/store';

// What the HTTP API answers. The page imports these types, and types only, so that nothing of the gateway is
// loaded there; those of dead letters are in `dead-letters.ts`,
// that of `/api/status` in `status.ts`.

/** `critical`: another person can get in or read along now. `warning`: a guard is weaker than it could be. */
export type AuditSeverity = 'critical' | 'warning' | 'info';

/** What one check found. */
export interface AuditFinding {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** One sentence; never a secret itself. */
  readonly found: string;
  readonly remedy: string;
}

/** `/api/audit`: the worst finding first. */
export interface AuditReport {
  /** In ms. */
  readonly at: number;
  readonly counts: Readonly<Record<AuditSeverity, number>>;
  readonly findings: readonly AuditFinding[];
}

/** `/api/queue`. Times in ms. */
export interface QueueReport extends Backlog {
  readonly now: number;
  /** Parts of answers, by state. */
  readonly parts: Awaited<ReturnType<Store['outbox']['counts']>>;
  readonly dead: Awaited<ReturnType<Store['deadLetters']['counts']>>;
  readonly processes: readonly Omit<RunningProcess, 'id'>[];
}

/** `/api/sessions`: a browser that is signed in. */
export interface ShownSession extends Omit<PageSession, 'hash' | 'openedWith'> {
  /** The one that asks. */
  readonly isCurrent: boolean;
}

/** What the page can do with a job. */
export type CronAction = 'pause' | 'resume' | 'remove' | 'run';

/** What the owner can decide about a version of SOUL.md. */
export type SoulAction = 'apply' | 'veto' | 'rollback';

/** `/api/soul`: a version of SOUL.md, or a proposal for one. Its texts were written by people and models. */
export interface ShownSoul {
  readonly number: number;
  /** `v0-seed`, `v3`. */
  readonly name: string;
  readonly origin: string;
  readonly reason: string;
  readonly state: SoulState;
  /** The state in words. */
  readonly standing: string;
  readonly score: string;
  readonly findings: readonly string[];
  readonly diff: string;
  readonly text: string;
  /** In ms. */
  readonly createdAt: number;
  /** The version that `diff` is against; null: it is the first. */
  readonly basedOn: number | null;
  readonly can: readonly SoulAction[];
}

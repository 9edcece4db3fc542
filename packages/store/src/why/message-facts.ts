import type { StepFacts } from '@parley/core';
import type { Approval } from '../approvals.ts';
import type { Decision } from '../decisions.ts';
import type { HeartbeatRun } from '../heartbeat-runs.ts';
import type { InboxOutcome } from '../inbox-rows.ts';
import type { ChatKey, PartRetry, PartState } from '../outbox-parts.ts';
import type { TurnRun, TurnState } from '../turns.ts';

/** All stored facts of one message. Times in ms; null where they are not known. */
export interface MessageFacts {
  readonly place: {
    readonly channel: string;
    readonly account: string;
    readonly chatId: string;
    readonly messageId: string;
  };
  /** When Parley received it. */
  readonly receivedAt: number;
  /** As the platform says; null where Parley itself put it there. */
  readonly sentAt: number | null;
  /** Why it was taken, or not. */
  readonly reason: string | null;
  readonly fate: Fate;
}

/** Not admitted, or admitted with the outcome. */
export type Fate =
  | { readonly kind: 'not-taken'; readonly outcome: Decision['outcome'] }
  | ({ readonly kind: 'taken' } & TakenFacts);

/** A message that has a row in the inbox. */
export interface TakenFacts {
  readonly conversationId: string;
  /** Where its answer goes. */
  readonly answeredIn: ChatKey;
  readonly trigger: 'boot' | 'sub-agent' | 'heartbeat' | 'cron' | null;
  readonly state: 'waiting' | 'claimed' | 'done';
  readonly outcome: InboxOutcome | null;
  readonly repeats: number;
  readonly interruptions: number;
  readonly settlesAt: number | null;
  readonly claimedAt: number | null;
  readonly doneAt: number | null;
  readonly files: readonly string[];
  /** The turn that works on its lane, where it is not its own. */
  readonly before: Pick<TurnFacts, 'turnId' | 'startedAt' | 'isSuspended'> | null;
  readonly run: Pick<HeartbeatRun, 'task' | 'state' | 'reason'> | null;
  readonly cronJob: string | null;
  readonly turn: TurnFacts | null;
  readonly parts: readonly PartFacts[];
}

/** The turn that took a message. */
export interface TurnFacts {
  readonly turnId: string;
  readonly state: TurnState;
  readonly reason: string | null;
  readonly attempts: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly isSuspended: boolean;
  /** The worker that runs it now; null: none. */
  readonly worker: string | null;
  readonly runs: readonly TurnRun[];
  readonly prompt: PromptFacts | null;
  readonly steps: readonly TimedStep[];
  readonly approvals: readonly Approval[];
}

/** The prompt as it was recorded. */
export interface PromptFacts {
  readonly at: number;
  readonly layout: string;
  readonly layers: number;
  readonly characters: number;
  readonly tokens: number;
}

/** A step of the journal with facts. */
export interface TimedStep {
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly facts: StepFacts;
}

/** A part of what was said because of the message. */
export interface PartFacts {
  readonly id: string;
  /** Null: for another chat, or the answer of a command. */
  readonly index: number | null;
  /** It goes where the message is answered. */
  readonly isHere: boolean;
  readonly state: PartState;
  readonly attempts: number;
  readonly createdAt: number;
  readonly notBefore: number;
  readonly triedAt: number | null;
  readonly sendingAt: number | null;
  readonly sentAt: number | null;
  readonly platformId: string | null;
  readonly error: string | null;
  readonly retries: readonly PartRetry[];
  /** An operator settled it (D06). */
  readonly settled: string | null;
}

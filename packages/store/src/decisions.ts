import type { Approval } from './approvals.ts';
import type { MessageKey } from './inbox.ts';
import type { ChatKey } from './outbox.ts';
import type { TurnCommit } from './rows.ts';

/** That a message was not taken, by whom it was and why. Never its text. */
export interface Decision extends MessageKey {
  readonly senderId: string;
  readonly outcome: 'ignored' | 'refused';
  readonly reason: string;
  readonly at: number;
  /** When it was written, as the platform says. */
  readonly sentAt?: number;
}

/** What a turn is suspended by: somebody has to say yes. */
export interface AwaitedYes extends Pick<Approval, 'code' | 'tool' | 'approvers'> {
  /** Without an answer it goes on then, in ms. */
  readonly expiresAt: number;
}

/** How the turn of a message went. Times in ms. */
export interface TurnStory {
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly outcome: 'running' | 'stopped' | 'interrupted' | TurnCommit['outcome'];
  readonly reason: string | null;
  /** Only of a turn that is `running` in name: it waits. */
  readonly awaits?: AwaitedYes;
  /** How often it was begun. */
  readonly attempts: number;
  /** Parts of its answer: delivered, on their way, of unknown fate, given up. */
  readonly parts: Readonly<Record<'sent' | 'waiting' | 'unknown' | 'failed', number>>;
}

/** All that is known of what became of one message, or of an alert that went there (D08). */
export interface MessageStory {
  /** Of an alert the id of its run. */
  readonly messageId: string;
  readonly at: number;
  readonly outcome:
    | Decision['outcome']
    | 'command'
    | 'waiting'
    | 'withdrawn'
    | 'set-aside'
    | 'turn'
    | 'alert';
  /** Why it was taken or not; null for what was stored before reasons were. Of an alert the task. */
  readonly reason: string | null;
  /** How often its turn was ended by a later message; absent where it never was. */
  readonly interruptions?: number;
  /** Only of `turn` and `alert`. */
  readonly turn: TurnStory | null;
}

/** What ingress decided, and what became of it. */
export interface DecisionRepository {
  /** Notes that a message was not taken; the newest 20,000 of each chat are kept, and 100,000 of all. */
  record(decision: Decision): Promise<void>;
  /** What became of the newest `limit` messages of a chat and alerts in it, oldest first. */
  stories(chat: ChatKey, limit: number): Promise<readonly MessageStory[]>;
}

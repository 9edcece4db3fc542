import type { MessageName, WhyAnswer } from '@parley/contracts';
import type { Database } from './database.ts';
import type { ChatKey } from './outbox-parts.ts';

/** Which message is meant. */
export interface WhyQuestion {
  /**
   * The platform's id, `channel:chat/message` (with an account `channel/account:chat/message`), the id of
   * a turn or of a heartbeat's run, or `last`.
   */
  readonly message: string;
  /** Only what was written there; elsewhere nothing is looked for. */
  readonly chat?: ChatKey | undefined;
}

/** What became of a message, stage by stage (D08). It writes nothing. */
export interface WhyRepository {
  /** Times up to `now`, in ms, are what is told of what still waits. */
  ask(question: WhyQuestion, now: number): Promise<WhyAnswer>;
  /** The newest `limit` messages of all chats, newest first; also those that were not taken. */
  recent(limit: number): Promise<readonly MessageName[]>;
}

/** Loads what answers with the first question: few installations ever ask. */
export function whyOnDemand(database: Database): WhyRepository {
  return {
    async ask(question, now) {
      const { whyRepository } = await import('./why/read-message.ts');
      return whyRepository(database).ask(question, now);
    },
    async recent(limit) {
      const { whyRepository } = await import('./why/read-message.ts');
      return whyRepository(database).recent(limit);
    },
  };
}

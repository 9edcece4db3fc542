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
export type WhyRepository = ReturnType<typeof whyRepository>;

export function whyRepository(database: Database) {
  // Loaded with the first question: few installations ever ask.
  const reading = () => import('./why/read-message.ts');
  return {
    /** `now`, in ms, dates what still waits. */
    async ask(question: WhyQuestion, now: number) {
      const { answerWhy } = await reading();
      return database.read((sql) => answerWhy(sql, question, now));
    },
    /** The newest `limit` messages of all chats, newest first; also those that were not taken. */
    async recent(limit: number) {
      const { recentNames } = await reading();
      return database.read((sql) => recentNames(sql, limit));
    },
  };
}

import type { ChatKey } from './outbox.ts';
import type { Overheard } from './rows.ts';

/**
 * What served groups say without addressing the bot (F06). A turn takes it with its claim and forgets it
 * with its commit; `/new` forgets what waits, `/stop` lets the next turn have it.
 */
export interface OverheardRepository {
  /**
   * Keeps one message for the next turn of the conversation, and of all that wait the newest 50.
   * A long one is cut and says so; a message that is told twice is kept once.
   */
  keep(
    place: ChatKey & { readonly conversationId: string },
    heard: Overheard,
    now: number,
  ): Promise<void>;
}

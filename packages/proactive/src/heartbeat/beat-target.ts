import type { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { StandingTask } from './standing-task.ts';

/** Who is told what a run finds: fixed before the model runs (H04). */
export type BeatTarget =
  | {
      readonly kind: 'chat';
      /** The conversation that an alert belongs to. */
      readonly conversationId: string;
      readonly route: ReplyRoute;
      /** The last message from there: in which chat, and who the reader is. */
      readonly last: InboundMessage;
      /** It is a direct chat of an owner. */
      readonly isOwners: boolean;
    }
  /** Nobody can be told, so nothing is run. */
  | { readonly kind: 'none'; readonly reason: string };

/** Finds the chat of a task: that of the owner, or the group which the task names. */
export type FindTarget = (task: Pick<StandingTask, 'name' | 'tell'>) => Promise<BeatTarget>;

import type { InboundMessage, ReplyRoute } from '@parley/contracts';
import { type BeatOrder, HEARTBEAT_LANE } from '@parley/store';
import { describeSchedule, type StandingTask } from './task.ts';

/** The chat for the alerts of a run: fixed before the model runs (H04). */
export type BeatTarget =
  | {
      readonly kind: 'chat';
      /** The conversation that an alert belongs to. */
      readonly conversationId: string;
      readonly route: ReplyRoute;
      /** The last message from there: the chat and the reader. */
      readonly last: InboundMessage;
      /** It is a direct chat of an owner. */
      readonly isOwners: boolean;
    }
  /** No chat can be notified, so nothing is run. */
  | { readonly kind: 'none'; readonly reason: string };

/** Finds the chat of a task: that of the owner, or the group which the task names. */
export type FindTarget = (task: Pick<StandingTask, 'name' | 'tell'>) => Promise<BeatTarget>;

/** Marked as a system message (G08); the task itself is in the prompt. */
const TEXT = '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

interface NewOrder {
  readonly id: string;
  readonly agent: string;
  readonly task: StandingTask;
  readonly lastRun: string;
  readonly target: Extract<BeatTarget, { kind: 'chat' }>;
  readonly now: number;
}

/** The message that starts a run, in the lane of the heartbeat, with the route of its alert. */
export function orderOf({ id, agent, task, lastRun, target, now }: NewOrder): BeatOrder {
  const { conversationId, route, last, isOwners } = target;
  const lane = `${HEARTBEAT_LANE}${agent}`;
  const { replyToMessageId: _, ...free } = route;
  const schedule = `${describeSchedule(task)}, last run ${lastRun}`;
  return {
    id,
    agent,
    task: task.name,
    target: conversationId,
    message: {
      conversationId: lane,
      // It replies to no message. Both carry the kind of chat, so that neither can widen it.
      route: { ...free, chatType: last.chat.type },
      receivedAt: now,
      fromOwner: isOwners,
      reason: `the standing task ${task.name} was due`,
      message: {
        channel: last.channel,
        account: last.account,
        messageId: id,
        chat: { ...last.chat, id: lane },
        sender: last.sender,
        text: TEXT,
        mentions: [],
        addressed: true,
        sentAt: now,
        variables: {
          task: task.name,
          instruction: task.instruction,
          schedule,
          ...(task.routine !== undefined && { routine: task.routine }),
        },
        occasion: 'heartbeat',
      },
    },
  };
}

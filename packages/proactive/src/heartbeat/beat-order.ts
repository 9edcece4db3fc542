import { type BeatOrder, HEARTBEAT_LANE } from '@parley/store';
import type { BeatTarget } from './beat-target.ts';
import { describeSchedule } from './describe-schedule.ts';
import type { StandingTask } from './standing-task.ts';

/** The mark says that no person wrote it (G08); the task itself stands in the prompt. */
const WORDS = '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

/** What a run begins with. */
export interface NewBeat {
  readonly id: string;
  readonly agent: string;
  readonly task: StandingTask;
  readonly lastRun: string;
  readonly target: Extract<BeatTarget, { kind: 'chat' }>;
  readonly now: number;
}

/** The order for one run: a message in the lane of the heartbeat, with the route of its alert. */
export function beatOrder({ id, agent, task, lastRun, target, now }: NewBeat): BeatOrder {
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
      // It answers no message of that chat. Both say what kind of chat it is: neither can widen it.
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
        text: WORDS,
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

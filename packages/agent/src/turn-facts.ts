import type { RuntimeFacts } from '@parley/contracts';
import type { IdentitySource } from '@parley/prompt';
import type { ClaimedTurn, InboxRow } from '@parley/store';
import type { LocalTime } from './local-time.ts';

/** Who the agent is and where it lives; the same for every turn. */
export interface AgentPlace {
  readonly id: string;
  /** What the settings say it is called, those for all agents first; IDENTITY.md fills in the rest (W05). */
  readonly identity: IdentitySource;
  /** Folder of the workspace. */
  readonly workspace: string;
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string;
  readonly localTime: LocalTime;
}

/** The message that decides a turn's facts: the newest of those it answers. Throws when there is none. */
export function leadingMessage(turn: ClaimedTurn): InboxRow {
  const leading = turn.messages.at(-1);
  if (!leading)
    throw new Error(`Turn ${turn.turnId} has no messages; claim never makes such a turn.`);
  return leading;
}

/** The runtime facts of a turn (F02). `now` is in ms. */
export function turnFacts(
  turn: ClaimedTurn,
  agent: AgentPlace,
  now: number,
): Omit<RuntimeFacts, 'agent'> {
  const { message } = leadingMessage(turn);
  const { channel, account, chat, sender, replyTo } = message;
  return {
    user: { id: `${channel}:${sender.id}`, name: sender.name },
    channel,
    account,
    channelUserId: sender.id,
    chatType: chat.type,
    ...(chat.type === 'direct' ? {} : { groupId: chat.id }),
    ...(chat.title === undefined ? {} : { groupTitle: chat.title }),
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    messageId: message.messageId,
    ...(replyTo === undefined ? {} : { replyToMessageId: replyTo.messageId }),
    mentions: message.mentions,
    addressed: message.addressed,
    ...agent.localTime(now),
    timeZone: agent.timeZone,
    workspace: agent.workspace,
    heartbeat: message.occasion === 'heartbeat',
    variables: message.variables,
  };
}

import type { InboundMessage, PartAction, ReplyRoute } from '@parley/core';
import type { AgentAnswer, NewPart, PostRequest, Store } from '@parley/store';
import { z } from 'zod';
import { type PostDeps, renderParts } from '../post-message.ts';
import {
  createFailedOutcome,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts';

export interface BotMessageToolDeps extends Omit<PostDeps, 'clock'> {
  readonly store: Pick<Store, 'outbox'>;
  readonly owners: readonly string[];
}

/** The channel action that each message tool needs. */
const NEEDS: Readonly<Record<string, PartAction['kind']>> = {
  react: 'react',
  edit_message: 'edit',
  delete_message: 'delete',
};

/** The names of the tools that a chat cannot use, because its channel does not support them. */
export function listMissingActions({ acts = [] }: Pick<ReplyRoute, 'acts'>): readonly string[] {
  return Object.entries(NEEDS).flatMap(([name, act]) => (acts.includes(act) ? [] : name));
}

const MAX_PER_TURN = 10;
/** How many of its latest answers the agent can refer to. */
const MAX_BACK = 20;

const SHARED = {
  tier: 'middleware',
  group: 'messages',
  effect: 'external',
  actsOnce: true,
  audience: 'everyone',
  approval: 'never',
} as const;

const Back = z
  .int()
  .min(1)
  .max(MAX_BACK)
  .describe(
    '1: your newest message in this chat, 2: the one before … Only answers count, not notices or questions about approvals.',
  );

/**
 * Reacts to the message being answered, and edits or deletes the agent's own answers in this chat
 * (F04), as far as the channel supports it. These actions go through the outbox, in order with all
 * other messages, so a crash does not lose them.
 */
export function createBotMessageTools(deps: BotMessageToolDeps): readonly Tool[] {
  return [
    defineTool({
      ...SHARED,
      name: 'react',
      summary: 'Reacts with an emoji to the message you answer.',
      hint: 'A reaction alone can be the answer; then say nothing else.',
      input: z.object({ emoji: z.string().min(1).max(16) }),
      async run({ emoji }, call) {
        const answered = call.messages?.at(-1);
        const messageId = isWrittenInChat(answered, call.route) ? answered?.messageId : undefined;
        if (messageId === undefined)
          return createFailedOutcome('Not done: no message is answered here.');
        const text = `[reacted with ${emoji}]`;
        return actOnMessage(
          deps,
          call,
          { kind: 'react', messageId, emoji },
          { text: '', plain: text },
        );
      },
    }),
    defineTool({
      ...SHARED,
      name: 'edit_message',
      summary: 'Edits one of your messages in this chat.',
      input: z.object({ message: Back, text: z.string().trim().min(1).max(4_000) }),
      async run({ message, text }, call) {
        const own = await findBotMessage(deps, call, message);
        if ('text' in own) return own;
        const [body, ...more] = call.route ? await renderParts(text, call.route) : [];
        if (body === undefined || more.length > 0) {
          return createFailedOutcome(
            'Not edited: the text must be visible and fit into one message.',
          );
        }
        const { partId, messageId } = own;
        const changes = { partId, how: 'edited' } as const;
        return actOnMessage(deps, call, { kind: 'edit', messageId }, body.body, changes);
      },
    }),
    defineTool({
      ...SHARED,
      name: 'delete_message',
      summary: 'Deletes one of your messages in this chat.',
      hint: 'Only if the person asks for it, or it was sent by mistake.',
      input: z.object({ message: Back }),
      async run({ message }, call) {
        const own = await findBotMessage(deps, call, message);
        if ('text' in own) return own;
        const body = { text: '', plain: '[deleted a message]' };
        const { partId, messageId } = own;
        const changes = { partId, how: 'deleted' } as const;
        return actOnMessage(deps, call, { kind: 'delete', messageId }, body, changes);
      },
    }),
  ];
}

/**
 * Whether a person wrote a message in the chat that receives the answer. Message ids from other
 * chats refer to other messages.
 */
function isWrittenInChat(
  message: InboundMessage | undefined,
  route: ReplyRoute | undefined,
): boolean {
  return (
    message !== undefined &&
    message.trigger === undefined &&
    message.channel === route?.channel &&
    message.account === route.account &&
    message.chat.id === route.chatId
  );
}

/** Finds the answer that is `back` answers ago, if the people in the turn may change it. */
async function findBotMessage(
  { store, owners }: BotMessageToolDeps,
  { route, reader: { conversationId }, messages = [] }: ToolCall,
  back: number,
): Promise<AgentAnswer | ToolOutcome> {
  if (route === undefined) return createFailedOutcome('Not done: nothing is answered here.');
  const own = await store.outbox.ownAnswers({ conversationId, route }, MAX_BACK);
  const answer = own[back - 1];
  if (answer === undefined) {
    return createFailedOutcome(
      `Not done: there are ${own.length} messages of yours here that can be changed.`,
    );
  }
  const isAlone = messages.every(
    (message) => message.chat.type === 'direct' && isWrittenInChat(message, route),
  );
  const people = messages.map(({ channel, sender }) => `${channel}:${sender.id}`);
  if (canChangeAnswer({ isAlone, people, owners }, answer.people)) return answer;
  return createFailedOutcome(OF_OTHERS);
}

const OF_OTHERS =
  'Not done: that message answers another person. In a group, people can have the answers to themselves changed, and only your owner can have others changed. Say so.';

async function actOnMessage(
  { store, deliver }: BotMessageToolDeps,
  { route, callId, turnId, clock }: ToolCall,
  kind: PartAction,
  body: NewPart['body'],
  changes?: PostRequest['changes'],
): Promise<ToolOutcome> {
  if (route === undefined || route.acts?.includes(kind.kind) !== true) {
    return createFailedOutcome('Not done: this chat cannot do that.');
  }
  const part = { route, body, act: kind };
  const turn = { id: turnId, most: MAX_PER_TURN };
  const post: PostRequest = {
    key: callId,
    turn,
    parts: [part],
    ...(changes !== undefined && { changes }),
  };
  const posted = await store.outbox.post(post, clock());
  if (!('chat' in posted)) {
    return createFailedOutcome(
      'Not done: this turn was stopped, the message is gone, a person has taken over the chat, or the turn has reached its maximum number of actions.',
    );
  }
  await deliver(route.channel, route.account, route.chatId);
  return { text: 'It is on its way.' };
}

/** The turn that requests a change to an earlier answer. */
interface ChangeRequest {
  /**
   * True if the conversation belongs to these people alone, so that all its answers are addressed
   * to them.
   */
  readonly isAlone: boolean;
  /** The ids of the people whose messages the turn answers, such as `telegram:42`. */
  readonly people: readonly string[];
  readonly owners: readonly string[];
}

/**
 * Whether an answer to these people may be edited or deleted. Guests in a group may only change
 * answers to themselves, because the group regards everything that the bot sends as the bot's own
 * text. If several people ask together, each of them must be entitled, because any of them may have
 * requested the change. Only owners may change an answer whose recipients are unknown.
 */
export function canChangeAnswer(
  { isAlone, people, owners }: ChangeRequest,
  answered: readonly string[],
): boolean {
  if (isAlone) return true;
  const guests = people.filter((person) => !owners.includes(person));
  const isAnswerTo = (guest: string) =>
    answered.length > 0 && answered.every((person) => person === guest);
  return people.length > 0 && guests.every(isAnswerTo);
}

import type { PartAct, ReplyRoute } from '@parley/core';
import type { NewPart, Store } from '@parley/store';
import { z } from 'zod';
import { type PostDeps, renderParts } from '../post-message.ts';
import { defineTool, failure, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';

export interface OwnMessagesDeps extends Omit<PostDeps, 'clock'> {
  readonly store: Pick<Store, 'outbox'>;
}

/** Which act of a channel each of these tools needs. */
const NEEDS: Readonly<Record<string, PartAct['kind']>> = {
  react: 'react',
  edit_message: 'edit',
  delete_message: 'delete',
};

/** Names of the tools that a chat has no use for, because its channel cannot do that. */
export function actsLacking({ acts = [] }: Pick<ReplyRoute, 'acts'>): readonly string[] {
  return Object.entries(NEEDS).flatMap(([name, act]) => (acts.includes(act) ? [] : name));
}

const MAX_PER_TURN = 10;
/** Own messages that can be named, the newest first. */
const MOST_BACK = 20;

const SHARED = {
  tier: 'middleware',
  effect: 'external',
  actsOnce: true,
  audience: 'everyone',
  approval: 'never',
} as const;

const Back = z
  .int()
  .min(1)
  .max(MOST_BACK)
  .describe('1: your newest message in this chat, 2: the one before it …');

/**
 * Reacts to the message that is answered, and edits or deletes own messages of this chat (F04), where its channel
 * can. Through the outbox in order with all else that is sent, so that a crash loses none of it.
 */
export function ownMessageTools(deps: OwnMessagesDeps): readonly Tool[] {
  return [
    defineTool({
      ...SHARED,
      name: 'react',
      summary: 'Puts an emoji as a reaction on the message you answer.',
      hint: 'A reaction alone is an answer, too: then say nothing else.',
      input: z.object({ emoji: z.string().min(1).max(16) }),
      async run({ emoji }, call) {
        const messageId = call.messages?.at(-1)?.messageId;
        if (messageId === undefined) return failure('Not done: no message is answered here.');
        const text = `[reacted with ${emoji}]`;
        return act(deps, call, { kind: 'react', messageId, emoji }, { text: '', plain: text });
      },
    }),
    defineTool({
      ...SHARED,
      name: 'edit_message',
      summary: 'Replaces the text of one of your messages in this chat.',
      input: z.object({ message: Back, text: z.string().trim().min(1).max(4_000) }),
      async run({ message, text }, call) {
        const own = await ownMessage(deps, call, message);
        if ('text' in own) return own;
        const [body, ...more] = call.route ? await renderParts(text, call.route) : [];
        if (body === undefined || more.length > 0) {
          return failure('Not edited: the text must be visible and fit into one message.');
        }
        return act(deps, call, { kind: 'edit', messageId: own.messageId }, body.body);
      },
    }),
    defineTool({
      ...SHARED,
      name: 'delete_message',
      summary: 'Deletes one of your messages in this chat.',
      hint: 'Only when the person asks for it, or it was sent by mistake.',
      input: z.object({ message: Back }),
      async run({ message }, call) {
        const own = await ownMessage(deps, call, message);
        if ('text' in own) return own;
        const body = { text: '', plain: '[deleted a message]' };
        return act(deps, call, { kind: 'delete', messageId: own.messageId }, body);
      },
    }),
  ];
}

async function ownMessage(
  { store }: OwnMessagesDeps,
  { route }: ToolCall,
  back: number,
): Promise<{ readonly messageId: string } | ToolOutcome> {
  const sent = route === undefined ? [] : await store.outbox.ownMessages(route, MOST_BACK);
  const messageId = sent[back - 1];
  if (messageId !== undefined) return { messageId };
  return failure(`Not done: there are ${sent.length} messages of yours here that can be changed.`);
}

async function act(
  { store, deliver }: OwnMessagesDeps,
  { route, callId, turnId, clock }: ToolCall,
  kind: PartAct,
  body: NewPart['body'],
): Promise<ToolOutcome> {
  if (route === undefined || route.acts?.includes(kind.kind) !== true) {
    return failure('Not done: this chat cannot do that.');
  }
  const part = { route, body, act: kind };
  const turn = { id: turnId, most: MAX_PER_TURN };
  const posted = await store.outbox.post({ key: callId, turn, parts: [part] }, clock());
  if (!('chat' in posted)) {
    return failure('Not done: this turn was stopped, or has done as many things as it may.');
  }
  await deliver(route.channel, route.account, route.chatId);
  return { text: 'It is on its way.' };
}

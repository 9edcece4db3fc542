import type { Store } from '@parley/store';
import { z } from 'zod';
import { type FindChatDeps, type FoundChat, findChat, isOwnersChat } from '../posting/find-chat.ts';
import { type PostDeps, type PostedMessage, postMessage } from '../posting/post-message.ts';
import { defineTool, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';

/** What writing to other chats needs. */
export interface MessageToolDeps extends FindChatDeps, Omit<PostDeps, 'clock'> {
  readonly store: Pick<Store, 'inbox' | 'links' | 'outbox' | 'overheard'>;
}

/** Messages of one turn; more would be a flood. */
const MOST_IN_TURN = 5;
const LONGEST = 8_000;

const HINT =
  'Only when the person asks for it, or a standing task does: what you answer reaches this chat by itself. Send it once and say that you did. People there do not see this conversation, so the text must say all they need.';

/**
 * Writes to another chat than the one that is answered (G02), from the main session alone. An owner's own
 * chat needs no yes; every other is one that the settings name, and a person reads the words first.
 */
export function messageTool(deps: MessageToolDeps): Tool {
  const names = Object.keys(deps.chats);
  return defineTool({
    name: 'message',
    summary: 'Sends a message to another chat than this one.',
    hint: HINT,
    tier: 'middleware',
    effect: 'external',
    actsOnce: true,
    audience: 'owner',
    approval: names.length === 0 ? 'never' : 'ask',
    spares: ({ to }) => isOwnersChat(to),
    input: inputWith(names),
    async run({ to, text }, call): Promise<ToolOutcome> {
      const here = call.messages?.at(-1);
      const found = await findChat(deps, to, here);
      if (found.kind === 'none') return { text: `Not sent. ${found.reason}`, failed: true };
      const isAsked = found.isOwners && here !== undefined && here.occasion === undefined;
      const posted = await postMessage(
        { ...deps, clock: call.clock },
        {
          key: call.callId,
          turn: { id: call.turnId, most: MOST_IN_TURN },
          route: found.route,
          markdown: text,
          isMarked: !isAsked,
        },
      );
      if (!('chat' in posted)) return { text: REFUSED[posted.kind], failed: true };
      await tellItsConversation(deps, found, text, call);
      call.log.info({ turn: call.turnId, ...posted.chat, post: posted.kind }, 'message posted');
      return { text: `Your message to ${to} is on its way, on ${found.route.channel}.` };
    },
  });
}

const REFUSED: Readonly<Record<Exclude<PostedMessage['kind'], 'posted' | 'known'>, string>> = {
  nothing: 'Not sent: nobody would see anything of this text.',
  over: 'Not sent: this turn was stopped, or its conversation begun anew.',
  'too-many': `Not sent: one turn sends ${MOST_IN_TURN} messages at most.`,
};

function inputWith(names: readonly string[]) {
  const others = names.length === 0 ? '' : ` Other chats: ${names.join(', ')}.`;
  // Exactly as a person is shown it: nothing is taken off or passed over.
  return z.strictObject({
    to: z
      .string()
      .max(80)
      .describe(
        `\`owner\`: another direct chat of the owner, the one used last; \`owner:telegram\` and the like: the one on that channel.${others}`,
      ),
    text: z.string().min(1).max(LONGEST).describe('In Markdown, as you would answer.'),
  });
}

/** What was written to people is there when they answer: as something that was said in their chat. */
async function tellItsConversation(
  { store }: MessageToolDeps,
  { route, conversationId }: Extract<FoundChat, { kind: 'chat' }>,
  text: string,
  { callId, reader, clock }: ToolCall,
): Promise<void> {
  if (conversationId === null || conversationId === reader.conversationId) return;
  const { channel, account, chatId } = route;
  await store.overheard.keep(
    { conversationId, channel, account, chatId },
    {
      messageId: `post:${callId}`,
      senderId: 'you',
      senderName: 'you, asked from another chat',
      text,
    },
    clock(),
  );
}

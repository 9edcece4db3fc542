import {
  type Capabilities,
  decodeLiteralText,
  type InboundMessage,
  type ReplyRoute,
  toAgentConversation,
} from '@parley/core';
import { render } from '@parley/markup';
import type { NewPart } from '@parley/store';
import type { AnswerStyle } from './rules.ts';

/**
 * Determines the reply route (F11) once, in this function only; in groups the answer quotes the
 * message.
 */
export function resolveReplyRoute(
  message: InboundMessage,
  capabilities: Capabilities,
  { mentions, numbered, acknowledge }: AnswerStyle,
): ReplyRoute {
  const { channel, account, chat, messageId, response } = message;
  const named = chat.type !== 'direct' || response !== undefined;
  return {
    channel,
    account,
    chatId: chat.id,
    chatType: chat.type,
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    ...(named ? { replyToMessageId: messageId } : {}),
    ...(response === undefined ? {} : { response }),
    ...(capabilities.quotes === true ? { quotes: true } : {}),
    ...(capabilities.inputs === true ? { inputs: true } : {}),
    ...(capabilities.maxButtons === undefined ? {} : { maxButtons: capabilities.maxButtons }),
    ...(capabilities.streaming === 'none' ? {} : { streams: true }),
    ...(capabilities.streaming === 'append' ? { appends: true } : {}),
    ...toRouteActions(capabilities),
    // A slash command is not visible as a message in the chat, so it cannot have a reaction.
    ...(acknowledge && capabilities.react && response === undefined && { acknowledge }),
    ...(capabilities.maxFileBytes && { maxFileBytes: capabilities.maxFileBytes }),
    ...(capabilities.maxFileBytes && capabilities.media.includes('voice') && { voice: true }),
    target: {
      ...capabilities.target,
      ...(mentions === 'live' ? { mentions } : {}),
      ...(numbered ? { numbered } : {}),
    },
  };
}

function toRouteActions(capabilities: Capabilities): Pick<ReplyRoute, 'acts'> {
  const acts = (['react', 'edit', 'delete'] as const).filter((act) => capabilities[act]);
  return acts.length === 0 ? {} : { acts };
}

/**
 * The conversation that a message to an agent belongs to: the conversation shared by all linked
 * accounts of the sender, or the chat's own conversation.
 */
export function resolveConversation(
  message: Pick<InboundMessage, 'channel' | 'account' | 'chat'>,
  mainConversation: string | null,
  agent: string | undefined,
): string {
  const shared = message.chat.separate ? null : mainConversation;
  return toAgentConversation(agent, shared ?? toConversationId(message));
}

/**
 * The lane and history that a message to the default agent belongs to: one per chat and thread, so
 * that a direct chat, a group and each thread of a group never share text.
 */
export function toConversationId(
  message: Pick<InboundMessage, 'channel' | 'account' | 'chat'>,
): string {
  const { channel, account, chat } = message;
  const parts = [channel, account, chat.id];
  if (chat.threadId !== undefined) parts.push(chat.threadId);
  // An unescaped colon inside an id could give two chats the same conversation id.
  return parts.map((part) => encodeURIComponent(part)).join(':');
}

/**
 * The parts of a notice or a command's answer on a route, in its platform's dialect and within its
 * length limits. Rendered synchronously, because Parley's own texts are short; answers are rendered
 * in steps.
 */
export function renderNoticeParts(markdown: string, route: ReplyRoute): NewPart[] {
  return render(markdown, route.target).map((body) => ({ route, body }));
}

/**
 * A notice to a direct chat, which becomes context for the next turn there. `secret` contains codes
 * for people, so it never reaches a model.
 */
export function createNoticeParts(
  markdown: string,
  route: ReplyRoute,
  { conversationId, secret }: { readonly conversationId: string | null; readonly secret?: string },
): NewPart[] {
  const { channel, account, chatId: id } = route;
  const known =
    conversationId ?? toConversationId({ channel, account, chat: { id, type: 'direct' } });
  const text = secret === undefined ? markdown : markdown.replaceAll(secret, '…');
  return renderNoticeParts(markdown, route).map((part, at) =>
    at > 0
      ? part
      : {
          ...part,
          notice: { conversationId: known, text: decodeLiteralText(text).replace(/^⚙️ /, '') },
        },
  );
}

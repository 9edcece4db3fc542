import { type Message, toPlainText, walkAst } from 'chat';
import { z } from 'zod';
import { readSlackMessage } from './slack-words.ts';
import { readTeamsMessage } from './teams-words.ts';
import type { BotNames, MessageTextFields, ReadingContext } from './to-inbound.ts';

/**
 * Reads the text of a message. Adapters provide text without its formatting. What this loses (link
 * targets, who typed what) is read from the formatted text or from the raw event.
 */
export async function readMessageText(
  message: Message,
  reading: ReadingContext,
): Promise<MessageTextFields> {
  switch (reading.platform) {
    case 'slack':
      return readSlackMessage(message, reading);
    case 'whatsapp':
      return readWhatsAppMessage(message);
    case 'github':
      return readMarkdownMessage(message, reading, GitHubRaw.safeParse(message.raw).data);
    case 'linear':
      return readMarkdownMessage(message, reading, LinearRaw.safeParse(message.raw).data);
    case 'gchat':
      return readGoogleChatMessage(message, reading);
    case 'teams':
      return readTeamsMessage(message, reading);
    default:
      return readPlainMessage(message, reading, formatText(message));
  }
}

/** The text, including its link targets. */
function formatText({ formatted, text }: Message): string {
  const shown = toPlainText(
    walkAst(structuredClone(formatted), (node) => {
      if (node.type !== 'link') return node;
      const label = toPlainText({
        type: 'root',
        children: [{ type: 'paragraph', children: node.children }],
      });
      const address = node.url.replace(/^mailto:/, '');
      const isPlain = label === '' || label === address || label === node.url;
      return { type: 'text', value: isPlain ? address : `${label} (${node.url})` };
    }),
  ).trim();
  return shown === '' ? text : shown;
}

/** Without `authored`, the core decides what counts as typed. */
function readPlainMessage(
  message: Message,
  { bot }: ReadingContext,
  text: string,
): MessageTextFields {
  const { isMention, replyTo } = message;
  const own = removeLeadingMention(text, bot);
  return {
    text: own,
    isMention: isMention ?? (own !== text || mentionsBot(text, bot)),
    mentions: [],
    ...(replyTo !== undefined && {
      replyTo: {
        messageId: replyTo.id,
        senderId: replyTo.author.userId,
        ...(replyTo.text !== '' && { text: replyTo.text }),
      },
    }),
  };
}

/** Removes a leading mention of the bot, so that a command can follow the mention. */
function removeLeadingMention(text: string, bot: BotNames): string {
  return text.replace(new RegExp(`^\\s*${toMentionPattern(bot)}[\\s,:]*`, 'i'), '');
}

function mentionsBot(text: string, bot: BotNames): boolean {
  return new RegExp(`(?<![\\w.])${toMentionPattern(bot)}`, 'i').test(text);
}

function toMentionPattern({ userName, userId }: BotNames): string {
  const names = [userName, userId].filter((name) => name !== undefined).map(RegExp.escape);
  return `@(?:${names.join('|')})(?![\\w-])`;
}

const GitHubRaw = z
  .object({
    comment: z.object({ body: z.string() }),
    repository: z.object({ owner: z.object({ login: z.string() }) }),
  })
  .transform(({ comment, repository }) => ({ body: comment.body, within: repository.owner.login }));

const LinearRaw = z
  .object({
    kind: z.string(),
    comment: z.object({ body: z.string() }),
    organizationId: z.string().optional(),
  })
  .transform(({ kind, comment, organizationId }) => ({
    body: comment.body,
    within: organizationId,
    isSession: kind === 'agent_session_comment',
  }));

interface MarkdownBody {
  readonly body: string;
  readonly within: string | undefined;
  /** A message in a session with the agent; it always addresses the agent. */
  readonly isSession?: boolean;
}

/** People write Markdown on these platforms, and the model receives it unchanged. */
function readMarkdownMessage(
  message: Message,
  reading: ReadingContext,
  raw: MarkdownBody | undefined,
): MessageTextFields {
  const words = readPlainMessage(message, reading, raw?.body ?? formatText(message));
  const isMention = words.isMention || raw?.isSession === true;
  return { ...words, isMention, authored: { text: true }, within: raw?.within };
}

const GoogleChatRaw = z.object({
  chat: z.object({
    messagePayload: z.object({ message: z.object({ argumentText: z.string().optional() }) }),
  }),
});

/**
 * Google Chat sends an app only messages that address it, with an `argumentText` that leaves out
 * the mention. Other messages in a space arrive through Pub/Sub.
 */
function readGoogleChatMessage(message: Message, reading: ReadingContext): MessageTextFields {
  const { data } = GoogleChatRaw.safeParse(message.raw);
  const words = readPlainMessage(message, reading, formatText(message));
  const argument = data?.chat.messagePayload.message.argumentText?.trim();
  return {
    ...words,
    ...(argument !== undefined && { text: argument }),
    isMention: words.isMention || data !== undefined,
    authored: { text: true },
  };
}

const Caption = z.object({ caption: z.string().optional() }).optional();
const WhatsAppRaw = z.object({
  message: z.object({
    type: z.string(),
    image: Caption,
    document: Caption,
    video: Caption,
    context: z
      .object({
        id: z.string().optional(),
        from: z.string().optional(),
        forwarded: z.boolean().optional(),
        frequently_forwarded: z.boolean().optional(),
      })
      .optional(),
  }),
});

/**
 * Reads captions from the raw event, because the adapter writes "[Image]" for a picture without
 * text.
 */
function readWhatsAppMessage({ raw, text }: Message): MessageTextFields {
  const { data } = WhatsAppRaw.safeParse(raw);
  if (data === undefined) return { text, isMention: true, mentions: [] };
  const { type, image, document, video, context = {} } = data.message;
  const caption = (image ?? document ?? video)?.caption;
  const isTyped = type === 'text' || type === 'location';
  const isForwarded = context.forwarded === true || context.frequently_forwarded === true;
  const { id, from } = context;
  return {
    text: isTyped ? text : (caption ?? ''),
    isMention: true,
    mentions: [],
    authored: {
      ...(!isForwarded && type !== 'location' && { text: true }),
      ...(!isForwarded && { voice: true }),
    },
    ...(id !== undefined && {
      replyTo: { messageId: id, ...(from !== undefined && { senderId: from }) },
    }),
  };
}

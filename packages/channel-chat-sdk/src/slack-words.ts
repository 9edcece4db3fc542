import type { Message } from 'chat';
import { z } from 'zod';
import type { MessageTextFields, ReadingContext } from './to-inbound.ts';

const Attachment = z.object({
  author_name: z.string().optional(),
  title: z.string().optional(),
  title_link: z.string().optional(),
  pretext: z.string().optional(),
  text: z.string().optional(),
  fallback: z.string().optional(),
});
const SlackEvent = z.object({
  text: z.string().default(''),
  team: z.string().optional(),
  team_id: z.string().optional(),
  user_team: z.string().optional(),
  attachments: z.array(z.unknown()).optional(),
});

/**
 * Reads a Slack message from its raw text, which contains only what its author typed. Forwarded
 * messages and link previews are attachments, which become the quotation.
 */
export async function readSlackMessage(
  message: Message,
  reading: ReadingContext,
): Promise<MessageTextFields> {
  const { data } = SlackEvent.safeParse(message.raw);
  const { text: typed, attachments = [] } = data ?? { text: message.text };
  const { userId } = reading.bot;
  const mentions = [...typed.matchAll(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g)].map(([, id = '']) => id);
  const own = userId === undefined ? typed : typed.replace(buildLeadingMentionPattern(userId), '');
  const quoted: string[] = [];
  for (const attachment of attachments) quoted.push(await readAttachmentText(attachment, reading));
  const quotation = quoted.filter((text) => text !== '').join('\n\n');
  const text = await toReadableText(own, reading);
  return {
    text,
    authored: { ...(text.trim() !== '' && { text: true }), voice: true },
    ...(quotation !== '' && { quotation: { text: quotation } }),
    mentions,
    isMention: message.isMention ?? (userId !== undefined && mentions.includes(userId)),
    senderTeamId: data?.user_team ?? data?.team ?? data?.team_id,
  };
}

function buildLeadingMentionPattern(userId: string): RegExp {
  return new RegExp(`^\\s*<@${RegExp.escape(userId)}(?:\\|[^>]*)?>[\\s,:]*`);
}

async function readAttachmentText(attachment: unknown, reading: ReadingContext): Promise<string> {
  const { data } = Attachment.safeParse(attachment);
  if (data === undefined) return '';
  const { author_name, title, title_link, pretext, text, fallback } = data;
  const heading = [author_name, title, title_link].filter((part) => part !== undefined).join(' · ');
  const body = [pretext, text ?? (title === undefined ? fallback : undefined)];
  const parts = [heading, ...body].filter((part) => part !== undefined && part !== '');
  return toReadableText(parts.join('\n'), reading);
}

const TOKEN = /<([@#!]?)([^>|]+)(?:\|([^>]*))?>/g;

/**
 * Replaces Slack's tokens (mentions, channels, links) with what people see, and adds the link
 * targets.
 */
async function toReadableText(text: string, { nameOf }: ReadingContext): Promise<string> {
  const names = new Map<string, string>();
  for (const [, sign, id = '', label] of text.matchAll(TOKEN)) {
    if (sign === '@' && label === undefined) names.set(id, (await nameOf(id)) ?? id);
  }
  const plain = text.replace(TOKEN, (_all, sign: string, id: string, label?: string) => {
    if (sign === '@') return `@${label ?? names.get(id) ?? id}`;
    if (sign === '#') return `#${label ?? id}`;
    if (sign === '!') return formatSpecialMention(id, label);
    const address = id.replace(/^mailto:/, '');
    return label === undefined || label === id || label === address ? address : `${label} (${id})`;
  });
  return plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Tokens such as `<!here>`, `<!subteam^S1|@group>` and `<!date^…|text>`. */
function formatSpecialMention(id: string, label: string | undefined): string {
  if (label !== undefined) return label;
  return `@${id.split('^')[0]}`;
}

import type { InboundMessage } from '@parley/contracts';
import { attachmentsOf } from './attachments.ts';
import type { Place } from './places.ts';
import { plainMentions } from './plain-mentions.ts';
import type { WireMention, WireMessage, WirePoll, WireUser } from './wire.ts';

/** Message types that people and bots write: a message, a reply, and the answers to commands. */
const WRITTEN: ReadonlySet<number> = new Set([0, 19, 20, 23]);
/** `message_reference.type` of a forwarded message; all others answer what they refer to. */
const FORWARD = 1;

/**
 * Turns a Discord message into what the core knows of it (F01). Undefined for what is no message to
 * anybody: the bot's own, and what Discord writes itself ("started a thread", joins, pins) (F07).
 */
export function toInbound(
  message: WireMessage,
  place: Place,
  account: string,
  me: string,
): InboundMessage | undefined {
  if (message.author.id === me || !WRITTEN.has(message.type)) return undefined;
  const attachments = attachmentsOf(message);
  const { text, leading } = textOf(message, place, me);
  const mentions = message.mentions.map(({ id }) => id);
  const named = mentions.includes(me) || leading;
  const replied = message.referenced_message?.author.id === me;
  return {
    channel: 'discord',
    account,
    messageId: message.id,
    chat: place.chat,
    sender: senderOf(message),
    text,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...replyOf(message, place),
    mentions,
    addressed: place.chat.type === 'direct' || named || replied || namesRole(message, place),
    sentAt: Date.parse(message.timestamp),
    variables: {},
  };
}

/** The name people see: of this server, else their own, else the account's. */
export function displayName(user: WireUser, nick: string | null | undefined): string {
  return nick ?? user.global_name ?? user.username;
}

function senderOf({ author, member, webhook_id }: WireMessage): InboundMessage['sender'] {
  return {
    id: author.id,
    name: displayName(author, member?.nick),
    username: author.username,
    isBot: author.bot === true || author.system === true || webhook_id != null,
  };
}

/** Discord's menu offers a bot's role beside the bot itself, with the same name. */
function namesRole({ mention_roles }: WireMessage, { botRole }: Place): boolean {
  return botRole !== undefined && mention_roles.includes(botRole);
}

/** The words. The bot's own name in front is none of them. */
function textOf(
  message: WireMessage,
  place: Place,
  me: string,
): { readonly text: string; readonly leading: boolean } {
  const written = writtenIn(message);
  const own = [`@!?${me}`, ...(place.botRole === undefined ? [] : [`@&${place.botRole}`])];
  const front = new RegExp(`^\\s*<(?:${own.join('|')})>[\\s,:]*`);
  const text = written.replace(front, '');
  const plain = plainMentions(text, namesIn(message.mentions), place.nameOf);
  return { text: plain, leading: text !== written };
}

/**
 * What was written; else what is forwarded, or asked in a poll. Forwarded words are somebody else's: they
 * command nothing, and are no wish of who passes them on.
 */
function writtenIn({ content, message_snapshots, poll }: WireMessage): string {
  if (content !== '') return content;
  if (poll != null) return pollWords(poll);
  const forwarded = message_snapshots?.[0]?.message.content ?? '';
  return forwarded === '' ? '' : `[Forwarded]\n${forwarded}`;
}

function pollWords({ question, answers }: WirePoll): string {
  const lines = answers.map(({ poll_media }) => `- ${poll_media.text}`);
  return [`Poll: ${question.text}`, ...lines].join('\n');
}

function namesIn(mentions: readonly WireMention[]): ReadonlyMap<string, string> {
  return new Map(mentions.map((user) => [user.id, displayName(user, user.member?.nick)]));
}

function replyOf(message: WireMessage, place: Place): Pick<InboundMessage, 'replyTo'> {
  const { message_reference: reference, referenced_message: answered } = message;
  if (reference?.message_id === undefined || reference.type === FORWARD) return {};
  const messageId = reference.message_id;
  if (answered == null) return { replyTo: { messageId } };
  const text = plainMentions(answered.content, namesIn(answered.mentions), place.nameOf);
  return {
    replyTo: { messageId, senderId: answered.author.id, ...(text === '' ? {} : { text }) },
  };
}

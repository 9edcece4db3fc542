import { type CommandInfo, isCommand, parseCommand } from '@parley/channels';
import { InboundMessage } from '@parley/contracts';
import type { proto } from '@whiskeysockets/baileys';
import { type Shown, shownIn } from './content.ts';
import { isGroup, isPerson, type PersonIds, personJid, publicId } from './jids.ts';

/** A message with what stands on its envelope. */
export interface Mail {
  /** The chat: a person, a group, or something that is not for us. */
  readonly chat: string;
  readonly id: string;
  /** Every form of the writer's identity that is known. */
  readonly from: PersonIds;
  /** The name that the writer chose. */
  readonly name: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly content: proto.IMessage;
}

/** What is known beside the message. */
export interface Knowledge {
  readonly account: string;
  /** Whose account this is. */
  readonly me: PersonIds;
  /** The writer's JID for the core; see `Acquaintances`. */
  readonly writer: string;
  /** Title of the group, when it is known. */
  readonly title?: string | undefined;
  /** JIDs for the core of others that the message names, by the JIDs that stand in it. */
  readonly people: ReadonlyMap<string, string>;
  /** Commands besides the core's own; one of them addresses the bot. */
  readonly commands?: readonly CommandInfo[] | undefined;
}

/** Whether somebody else wrote this to us: not a channel, a status, a list, or ourselves. */
export function isForUs({ chat, from }: Mail, me: PersonIds): boolean {
  if (from.pn === undefined && from.lid === undefined) return false;
  if (isPerson(from.pn, me) || isPerson(from.lid, me)) return false;
  return isGroup(chat) || personJid(chat) !== undefined;
}

/** The chat for the core: one person is one chat, whichever form of them stands on the message. */
export function chatIdOf(chat: string, writer: string): string {
  return isGroup(chat) ? chat : writer;
}

/** The people that a message mentions or answers, as they stand in it, without devices. */
export function namedIn(mail: Mail): string[] {
  const context = shownIn(mail.content, placeOf(mail))?.context;
  const named = [...(context?.mentionedJid ?? []), context?.participant];
  return named.map(personJid).filter((jid) => jid !== undefined);
}

/** A WhatsApp message as the core knows it (F01); undefined for what shows nothing: keys, receipts, reactions. */
export function toInbound(mail: Mail, known: Knowledge): InboundMessage | undefined {
  const shown = shownIn(mail.content, placeOf(mail));
  if (shown === undefined) return undefined;
  const { account, title, writer } = known;
  const { text, attachment, albumId } = shown;
  const direct = !isGroup(mail.chat);
  const checked = InboundMessage.safeParse({
    channel: 'whatsapp',
    account,
    messageId: mail.id,
    chat: {
      id: chatIdOf(mail.chat, writer),
      type: direct ? 'direct' : 'group',
      ...(title === undefined ? {} : { title }),
    },
    sender: { id: publicId(writer), name: mail.name, ...otherName(mail, writer), isBot: false },
    text,
    ...(attachment === undefined ? {} : { attachments: [attachment] }),
    ...(albumId === undefined ? {} : { albumId }),
    ...replyOf(shown, known),
    mentions: mentionsOf(shown, known),
    addressed: direct || isAddressed(shown, known),
    sentAt: mail.time * 1000,
    variables: {},
  });
  return checked.success ? checked.data : undefined;
}

/** The same message with other words; what the change does not mention stays, files above all. */
export function reworded(
  old: InboundMessage,
  content: proto.IMessage,
  known: Pick<Knowledge, 'me' | 'people' | 'commands'>,
): InboundMessage | undefined {
  const shown = shownIn(content, { chat: old.chat.id, id: old.messageId });
  const text = shown?.text ?? '';
  if (text === '' && old.attachments === undefined) return undefined;
  const addressed = old.addressed || (shown !== undefined && isAddressed(shown, known));
  return { ...old, text, addressed, mentions: shown ? mentionsOf(shown, known) : old.mentions };
}

function placeOf({ chat, id, from }: Mail) {
  const writer = from.lid ?? from.pn;
  return isGroup(chat) && writer !== undefined ? { chat, id, writer } : { chat, id };
}

/** The form of a person that is not the id. */
function otherName({ from }: Mail, writer: string): { readonly username?: string } {
  const other = writer === from.lid ? from.pn : from.lid;
  return other === undefined ? {} : { username: publicId(other) };
}

function isAddressed(
  { text, context }: Shown,
  { me, commands = [] }: Pick<Knowledge, 'me' | 'commands'>,
): boolean {
  const isNamed = context?.mentionedJid?.some((jid) => isPerson(jid, me)) === true;
  const isOurs = parseCommand(text) !== null || isCommand(text, commands);
  return isNamed || isOurs || isPerson(context?.participant, me);
}

function mentionsOf({ context }: Shown, { people }: Pick<Knowledge, 'people'>): string[] {
  const jids = (context?.mentionedJid ?? []).map(personJid).filter((jid) => jid !== undefined);
  return [...new Set(jids.map((jid) => publicId(people.get(jid) ?? jid)))];
}

function replyOf({ context }: Shown, { people }: Knowledge): Pick<InboundMessage, 'replyTo'> {
  if (!context?.stanzaId) return {};
  const sender = personJid(context.participant);
  const text = context.quotedMessage
    ? shownIn(context.quotedMessage, { chat: '', id: '' })?.text
    : '';
  return {
    replyTo: {
      messageId: context.stanzaId,
      ...(sender === undefined ? {} : { senderId: publicId(people.get(sender) ?? sender) }),
      ...(text ? { text } : {}),
    },
  };
}

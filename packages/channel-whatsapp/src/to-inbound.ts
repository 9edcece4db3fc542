import { parseCommand } from '@parley/channels';
import { InboundMessage } from '@parley/contracts';
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import { isGroup, isPerson, type PersonIds, personIds, personJid, publicId } from './jids.ts';

/** A message with what stands on its envelope. */
export interface Mail {
  /** The chat: a person, a group, or something that is not for us. */
  readonly chat: string;
  /** Title of the group, when it is known. */
  readonly title?: string | undefined;
  readonly id: string;
  /** Every form of the writer's identity that is known. */
  readonly from: PersonIds;
  /** The name that the writer chose. */
  readonly name: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly content: proto.IMessage;
}

/** Whose account this is. */
export interface Identity {
  readonly account: string;
  readonly me: PersonIds;
}

/**
 * A WhatsApp message as the core knows it (F01); undefined for what no person says to us: channels,
 * status, lists, our own words, and messages without words (keys, receipts, edits, reactions).
 */
export function toInbound(mail: Mail, { account, me }: Identity): InboundMessage | undefined {
  const { chat, id, from, name, time, title } = mail;
  const direct = !isGroup(chat);
  const writer = from.pn ?? from.lid;
  if (writer === undefined || isPerson(writer, me) || isPerson(from.lid, me)) return undefined;
  if (direct && personJid(chat) === undefined) return undefined;
  const said = wordsOf(mail.content);
  if (said === undefined) return undefined;
  const { text, context } = said;
  const mentioned = context?.mentionedJid ?? [];
  const quotesMe = isPerson(context?.participant, me);
  const named = mentioned.some((jid) => isPerson(jid, me));
  const checked = InboundMessage.safeParse({
    channel: 'whatsapp',
    account,
    messageId: id,
    chat: {
      // One person is one chat, whichever form of them stands on the stanza.
      id: direct ? writer : chat,
      type: direct ? 'direct' : 'group',
      ...(title === undefined ? {} : { title }),
    },
    sender: {
      id: publicId(writer),
      name,
      ...(from.pn === undefined || from.lid === undefined ? {} : { username: from.lid }),
      isBot: false,
    },
    text,
    ...replyOf(context),
    mentions: [...new Set(mentioned.flatMap((jid) => personJid(jid) ?? []).map(publicId))],
    addressed: direct || named || quotesMe || parseCommand(text) !== null,
    sentAt: time * 1000,
    variables: {},
  });
  return checked.success ? checked.data : undefined;
}

interface Words {
  readonly text: string;
  readonly context: proto.IContextInfo | null | undefined;
}

/** What is said in a message: text, an answer chosen from a list, or the caption of a file. */
function wordsOf(wrapped: proto.IMessage): Words | undefined {
  const content = normalizeMessageContent(wrapped);
  if (content === undefined || content === null) return undefined;
  if (content.conversation) return { text: content.conversation, context: undefined };
  for (const [part, text] of partsOf(content)) {
    if (part && text) return { text, context: part.contextInfo };
  }
  return undefined;
}

type Part = { readonly contextInfo?: proto.IContextInfo | null } | null | undefined;

function partsOf(content: proto.IMessage): (readonly [Part, string | null | undefined])[] {
  const { extendedTextMessage, imageMessage, videoMessage, documentMessage } = content;
  const { buttonsResponseMessage, listResponseMessage, templateButtonReplyMessage } = content;
  return [
    [extendedTextMessage, extendedTextMessage?.text],
    [imageMessage, imageMessage?.caption],
    [videoMessage, videoMessage?.caption],
    [documentMessage, documentMessage?.caption],
    [buttonsResponseMessage, buttonsResponseMessage?.selectedDisplayText],
    [listResponseMessage, listResponseMessage?.title],
    [templateButtonReplyMessage, templateButtonReplyMessage?.selectedDisplayText],
  ];
}

function replyOf(context: Words['context']): Pick<InboundMessage, 'replyTo'> {
  if (!context?.stanzaId) return {};
  const { lid, pn } = personIds(context.participant);
  const sender = pn ?? lid;
  const text = context.quotedMessage ? wordsOf(context.quotedMessage)?.text : undefined;
  return {
    replyTo: {
      messageId: context.stanzaId,
      ...(sender === undefined ? {} : { senderId: publicId(sender) }),
      ...(text === undefined ? {} : { text }),
    },
  };
}

import { type ChannelContext, guarded } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/core';
import type { BaileysEventMap, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { RawMessage } from './content.ts';
import { isGroup, toPersonIds, toPersonJid, toPublicId } from './people.ts';
import { toMessageSeconds } from './times.ts';

/** A stanza that Baileys does not decrypt. */
export type UndecryptedStanza =
  /** A stanza without content that is not addressed to this account. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** WhatsApp withholds the content from linked devices and does not send another stanza. */
  | { readonly kind: 'unread'; readonly what: string };

/** Content that WhatsApp shows only on phones, keyed by the type in the stanza. */
const PHONES_ALONE: ReadonlyMap<string, string> = new Map([
  ['view_once', 'a view-once message, which WhatsApp shows on phones alone'],
  ['view_once_unavailable_fanout', 'a view-once message, which WhatsApp shows on phones alone'],
  ['hosted_unavailable_fanout', 'a message that WhatsApp shows on phones alone'],
]);

/**
 * Classifies a stanza without content; undefined if the stanza is decrypted and admitted, or if
 * Baileys requests it again.
 */
export function classifyStanza({ attrs, content }: BinaryNode): UndecryptedStanza | undefined {
  const { from = '', participant } = attrs;
  const reason = findIgnoreReason(from) ?? findSenderIgnoreReason(participant ?? from);
  if (reason !== undefined) return { kind: 'ignored', reason };
  const nodes = Array.isArray(content) ? content : [];
  if (nodes.some(({ tag }) => tag === 'enc' || tag === 'plaintext')) return undefined;
  const type = nodes.find(({ tag }) => tag === 'unavailable')?.attrs.type ?? '';
  const what = PHONES_ALONE.get(type);
  if (what !== undefined) return { kind: 'unread', what };
  return type === 'bot_unavailable_fanout'
    ? { kind: 'ignored', reason: 'an answer of a WhatsApp assistant' }
    : undefined;
}

function findIgnoreReason(from: string): string | undefined {
  if (from === 'status@broadcast') return 'a status, which is for all contacts';
  if (from.endsWith('@broadcast')) return 'a message to a list of people';
  if (from.endsWith('@newsletter')) return 'a post of a channel';
  return undefined;
}

/**
 * Why a sender is ignored: it is an assistant, another company's app, or anything else that is not
 * a person on WhatsApp.
 */
function findSenderIgnoreReason(sender: string): string | undefined {
  if (toPersonJid(sender) !== undefined) return undefined;
  return sender.endsWith('@bot')
    ? 'a message of a WhatsApp assistant'
    : 'its sender is not a person on WhatsApp';
}

interface IgnoredStanzaDeps {
  readonly context: Pick<ChannelContext<unknown>, 'ignored' | 'clock'>;
  readonly log: Logger;
}

/**
 * Records why a stanza does not start a turn. Never rejects, because nothing depends on the record.
 */
export async function recordIgnoredStanza(
  { context, log }: IgnoredStanzaDeps,
  { attrs }: BinaryNode,
  reason: string,
): Promise<void> {
  const { from: chatId, id: messageId, participant } = attrs;
  if (!chatId || !messageId) return;
  const sender = toPersonJid(participant ?? chatId);
  const event = {
    chatId,
    messageId,
    ...(sender === undefined ? {} : { senderId: toPublicId(sender) }),
    at: toMessageSeconds(Number(attrs.t), context.clock) * 1_000,
  };
  await context.ignored(event, reason).catch((thrown: unknown) => {
    log.debug({ reason: reasonOf(thrown) }, 'the reason for ignoring an event was not stored');
  });
}

interface NoticeDeps extends IgnoredStanzaDeps {
  readonly nameOf: (jid: string) => string | undefined;
  /** Admits a message derived from an event on the socket. */
  readonly admit: (raw: RawMessage, socket: WASocket) => Promise<void>;
}

/**
 * Handles events that are not messages: group changes are recorded for `why`, and a call is
 * reported to the agent.
 */
export function listenForNotices(socket: WASocket, deps: NoticeDeps): void {
  const changed = guarded('group notification', (stanza: BinaryNode) => {
    const change = Array.isArray(stanza.content) ? stanza.content[0]?.tag : undefined;
    void recordIgnoredStanza(
      deps,
      stanza,
      `WhatsApp's note about the group: ${change ?? 'a change'}`,
    );
  });
  socket.ws.on('CB:notification,type:w:gp2', changed);
  const called = guarded('call', (calls: BaileysEventMap['call']) => {
    for (const raw of calls.flatMap((call) => toCallMessage(call, deps) ?? [])) {
      deps.admit(raw, socket).catch((thrown: unknown) => {
        deps.log.warn({ reason: reasonOf(thrown) }, 'a call was not stored');
      });
    }
  });
  socket.ev.on('call', called);
}

type CallEvent = BaileysEventMap['call'][number];

/**
 * The start of a call to this account. The account cannot answer calls, and the caller is told
 * this.
 */
function toCallMessage(call: CallEvent, { nameOf, context }: NoticeDeps): RawMessage | undefined {
  const { status, isGroup: isOfGroup, from, callerPn, id, date, isVideo } = call;
  if (status !== 'offer' || isOfGroup === true || isGroup(call.chatId)) return undefined;
  const chat = toPersonJid(from);
  if (chat === undefined) return undefined;
  return {
    chat,
    id,
    from: toPersonIds(from, callerPn),
    name: nameOf(chat) ?? '',
    time: toMessageSeconds(date.getTime() / 1_000, context.clock),
    content: {},
    unread: isVideo === true ? 'a video call' : 'a voice call',
    isNotice: true,
  };
}

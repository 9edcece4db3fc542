import { type ChannelContext, guarded } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/core';
import type { BaileysEventMap, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { RawMessage } from './content.ts';
import { isGroup, personIds, personJid, publicId } from './people.ts';
import { messageSeconds } from './times.ts';

/** The content of a stanza that Baileys does not decrypt. */
export type Unseen =
  /** Nothing for this account alone. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** WhatsApp keeps the content from linked devices: nothing else follows. */
  | { readonly kind: 'unread'; readonly what: string };

/** Content that WhatsApp shows on phones alone, by the type that the stanza gives. */
const PHONES_ALONE: ReadonlyMap<string, string> = new Map([
  ['view_once', 'a view-once message, which WhatsApp shows on phones alone'],
  ['view_once_unavailable_fanout', 'a view-once message, which WhatsApp shows on phones alone'],
  ['hosted_unavailable_fanout', 'a message that WhatsApp shows on phones alone'],
]);

/** Undefined for what is decrypted and admitted, or asked for again by Baileys. */
export function unseenIn({ attrs, content }: BinaryNode): Unseen | undefined {
  const { from = '', participant } = attrs;
  const reason = reasonToIgnore(from) ?? reasonToIgnoreSender(participant ?? from);
  if (reason !== undefined) return { kind: 'ignored', reason };
  const nodes = Array.isArray(content) ? content : [];
  if (nodes.some(({ tag }) => tag === 'enc' || tag === 'plaintext')) return undefined;
  const type = nodes.find(({ tag }) => tag === 'unavailable')?.attrs.type ?? '';
  const what = PHONES_ALONE.get(type);
  if (what !== undefined) return { kind: 'unread', what };
  return type === 'bot_unavailable_fanout'
    ? { kind: 'ignored', reason: 'an answer of an assistant of WhatsApp' }
    : undefined;
}

function reasonToIgnore(from: string): string | undefined {
  if (from === 'status@broadcast') return 'a status, which is for all contacts';
  if (from.endsWith('@broadcast')) return 'a message to a list of people';
  if (from.endsWith('@newsletter')) return 'a post of a channel';
  return undefined;
}

/** Assistants, the apps of other companies, and whatever else writes without being a person of WhatsApp. */
function reasonToIgnoreSender(sender: string): string | undefined {
  if (personJid(sender) !== undefined) return undefined;
  return sender.endsWith('@bot')
    ? 'a message of an assistant of WhatsApp'
    : 'its sender is no person of WhatsApp';
}

interface NoteDeps {
  readonly context: Pick<ChannelContext<unknown>, 'ignored' | 'clock'>;
  readonly log: Logger;
}

/** Notes why a stanza starts no turn. Never rejects: the note explains, and nothing depends on it. */
export async function noteStanza(
  { context, log }: NoteDeps,
  { attrs }: BinaryNode,
  reason: string,
): Promise<void> {
  const { from: chatId, id: messageId, participant } = attrs;
  if (!chatId || !messageId) return;
  const sender = personJid(participant ?? chatId);
  const event = {
    chatId,
    messageId,
    ...(sender === undefined ? {} : { senderId: publicId(sender) }),
    at: messageSeconds(Number(attrs.t), context.clock) * 1_000,
  };
  await context.ignored(event, reason).catch((thrown: unknown) => {
    log.debug({ reason: reasonOf(thrown) }, 'the reason for ignoring an event was not stored');
  });
}

interface NoticeDeps extends NoteDeps {
  readonly nameOf: (jid: string) => string | undefined;
  /** Admits a message that the socket only tells about. */
  readonly admit: (raw: RawMessage, socket: WASocket) => Promise<void>;
}

/** Follows what is no message: changes of groups are noted for `why`, and a call is named to the agent. */
export function listenForNotices(socket: WASocket, deps: NoticeDeps): void {
  const changed = guarded('group notification', (stanza: BinaryNode) => {
    const change = Array.isArray(stanza.content) ? stanza.content[0]?.tag : undefined;
    void noteStanza(deps, stanza, `WhatsApp's note about the group: ${change ?? 'a change'}`);
  });
  socket.ws.on('CB:notification,type:w:gp2', changed);
  const called = guarded('call', (calls: BaileysEventMap['call']) => {
    for (const raw of calls.flatMap((call) => callIn(call, deps) ?? [])) {
      deps.admit(raw, socket).catch((thrown: unknown) => {
        deps.log.warn({ reason: reasonOf(thrown) }, 'a call was not stored');
      });
    }
  });
  socket.ev.on('call', called);
}

type Call = BaileysEventMap['call'][number];

/** The start of a call to this account; it cannot be answered, and the person is told. */
function callIn(call: Call, { nameOf, context }: NoticeDeps): RawMessage | undefined {
  const { status, isGroup: isOfGroup, from, callerPn, id, date, isVideo } = call;
  if (status !== 'offer' || isOfGroup === true || isGroup(call.chatId)) return undefined;
  const chat = personJid(from);
  if (chat === undefined) return undefined;
  return {
    chat,
    id,
    from: personIds(from, callerPn),
    name: nameOf(chat) ?? '',
    time: messageSeconds(date.getTime() / 1_000, context.clock),
    content: {},
    unread: isVideo === true ? 'a video call' : 'a voice call',
    isNotice: true,
  };
}

import { proto } from '@whiskeysockets/baileys';
import type { RawMessage } from './content.ts';
import type { MessageEnvelope } from './decrypt.ts';
import { UNKNOWN } from './intake.ts';
import { toSafeInteger } from './kinds/reading.ts';
import { isPerson, type PersonIds } from './people.ts';

/** A message that the account's own phone sent again. */
export interface ResentMessage {
  readonly envelope: MessageEnvelope;
  readonly content: proto.IMessage;
  /** The content's name, with an article, if the content cannot be read. */
  readonly unread?: string | undefined;
}

/**
 * Reads the phone's response to a request for messages that arrived without content, for example
 * the first message from a person who responds to an advertisement. Baileys requests them from the
 * account's phone. Baileys' own event for such messages is not usable, because its buffer drops the
 * origin of the messages. A response from any other sender is forged.
 */
export function listResentMessages(
  { from, content }: RawMessage,
  me: PersonIds,
): readonly ResentMessage[] {
  if (!isPerson(from.pn, me) && !isPerson(from.lid, me)) return [];
  const results =
    content.protocolMessage?.peerDataOperationRequestResponseMessage?.peerDataOperationResult;
  return (results ?? []).flatMap(({ placeholderMessageResendResponse: response }) => {
    const bytes = response?.webMessageInfoBytes;
    return bytes?.length ? (parseResentMessage(bytes) ?? []) : [];
  });
}

function parseResentMessage(bytes: Uint8Array): ResentMessage | undefined {
  const info = decodeMessageInfo(bytes);
  const { remoteJid: from, id, participant, fromMe } = info?.key ?? {};
  if (!info?.message || !from || !id || fromMe === true) return undefined;
  const sender = participant || info.participant;
  const envelope = {
    from,
    id,
    ...(sender ? { participant: sender } : {}),
    notify: info.pushName ?? '',
    t: String(toSafeInteger(info.messageTimestamp) ?? 0),
  };
  // A kind newer than Baileys is decoded as an empty message.
  const isUnknown = Object.keys(info.message).every((name) => name === 'messageContextInfo');
  return { envelope, content: info.message, ...(isUnknown && { unread: UNKNOWN }) };
}

function decodeMessageInfo(bytes: Uint8Array): proto.IWebMessageInfo | undefined {
  try {
    return proto.WebMessageInfo.decode(bytes);
  } catch {
    return undefined;
  }
}

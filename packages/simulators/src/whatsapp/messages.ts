import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import {
  type Chat,
  findChat,
  getTimeInSeconds,
  requireCompanion,
  type SimulatedAccount,
} from './account.ts';
import { confirmDelivery, requestRetry } from './acts.ts';
import type { SendFault } from './faults.ts';
import { type Group, isMember } from './groups.ts';
import type { Person } from './people.ts';
import { parseMessageContent } from './read-content.ts';
import { buildNode, type ClientLink, findChild, listChildren, readBytes } from './wire.ts';

/**
 * Handles a message from the bot: the phones decrypt it, the transcript shows it, and the server
 * acknowledges it.
 */
export async function handleMessage(
  account: SimulatedAccount,
  link: ClientLink,
  stanza: BinaryNode,
): Promise<void> {
  const to = stanza.attrs.to ?? '';
  const chat = findChat(account, to);
  const fault = account.faults.takeSend(chat?.id ?? to);
  const code = fault?.kind === 'refuse' ? fault.code : getRefusalCode(account, chat);
  const isLost = code !== undefined || losesMessage(fault);
  const readings =
    chat === undefined || isLost ? [] : await decryptForAllPhones(account, chat, stanza);
  recordSend(account, stanza, readings, toSendOutcome(fault, code));
  const message = readings.find((reading) => reading.message !== undefined)?.message;
  if (chat !== undefined && message !== undefined) {
    const source = { chat: chat.id, from: 'bot', id: stanza.attrs.id ?? '' };
    account.transcript.apply(source, parseMessageContent(message), message);
  }
  const settle = () => {
    if (fault?.kind === 'drop') link.drop();
    else if (fault?.kind !== 'no-ack') link.send(buildAckNode(account, stanza, code));
    if (chat !== undefined && fault?.kind !== 'no-ack')
      sendReceipts(account, chat, stanza, readings);
  };
  if (fault?.kind === 'late-ack') setTimeout(settle, fault.ms).unref();
  else settle();
}

/** Returns the error with which the servers reject a message; undefined when they accept it. */
function getRefusalCode({ me }: SimulatedAccount, chat: Chat | undefined): number | undefined {
  if (chat === undefined) return 404;
  if (chat.kind !== 'group') return undefined;
  const { group } = chat;
  const mayWrite = isMember(group, me) && (!group.announce || group.admins.has(me.lid));
  return mayWrite ? undefined : 403;
}

function losesMessage(fault: SendFault | undefined): boolean {
  return (fault?.kind === 'drop' || fault?.kind === 'no-ack') && fault.lost === true;
}

function toSendOutcome(fault: SendFault | undefined, code: number | undefined) {
  if (code !== undefined) return code;
  if (fault?.kind === 'drop') return 'dropped';
  return fault?.kind === 'no-ack' ? 'no-ack' : 'acked';
}

function recordSend(
  account: SimulatedAccount,
  stanza: BinaryNode,
  readings: readonly PhoneDecryption[],
  outcome: 'acked' | 'no-ack' | 'dropped' | number,
): void {
  const message = readings.find((reading) => reading.message !== undefined)?.message;
  const those = (canRead: boolean) =>
    readings.filter((reading) => (reading.message !== undefined) === canRead);
  account.transcript.recordSend({
    id: stanza.attrs.id ?? '',
    to: stanza.attrs.to ?? '',
    devices: listChildren(findChild(stanza, 'participants'), 'to').map(
      ({ attrs }) => attrs.jid ?? '',
    ),
    readers: those(true).map(({ person }) => person.id),
    unreadable: those(false).map(({ person }) => person.id),
    attrs: { ...stanza.attrs },
    ...(message === undefined ? {} : { message }),
    outcome,
  });
}

function buildAckNode(
  account: SimulatedAccount,
  { attrs }: BinaryNode,
  error: number | undefined,
): BinaryNode {
  const { id, to } = attrs;
  return buildNode('ack', { class: 'message', id, from: to, t: getTimeInSeconds(account), error });
}

function sendReceipts(
  account: SimulatedAccount,
  chat: Chat,
  stanza: BinaryNode,
  readings: readonly PhoneDecryption[],
): void {
  for (const { person, message } of readings) {
    if (message === undefined) requestRetry(account, chat, person, stanza);
    else confirmDelivery(account, chat, person, stanza);
  }
}

/** A person's phone and the message it decrypted; undefined when decryption failed. */
export interface PhoneDecryption {
  readonly person: Person;
  readonly message: proto.IMessage | undefined;
}

/**
 * Lets every recipient's phone decrypt its ciphertext. The account's own phone also decrypts the
 * message but is not part of the result.
 */
async function decryptForAllPhones(
  account: SimulatedAccount,
  chat: Chat,
  stanza: BinaryNode,
): Promise<PhoneDecryption[]> {
  const author = requireCompanion(account).lid;
  const readings: PhoneDecryption[] = [];
  for (const { jid, enc } of listCiphertexts(stanza)) {
    const person = account.people.find(jid);
    if (person === undefined || isClientDevice(account, jid)) continue;
    const { type = '' } = enc.attrs;
    const message = await attemptDecryption(() => person.phone.open(author, type, readBytes(enc)));
    if (person !== account.me) readings.push({ person, message });
  }
  const forAll = listChildren(stanza, 'enc').find(({ attrs }) => attrs.type === 'skmsg');
  if (chat.kind !== 'group' || forAll === undefined) return readings;
  return decryptInGroup(account, chat.group, author, readBytes(forAll));
}

/**
 * Returns the ciphertexts for individual devices; a message sent again to a single device contains
 * its ciphertext directly.
 */
function listCiphertexts(stanza: BinaryNode): { readonly jid: string; readonly enc: BinaryNode }[] {
  const listed = listChildren(findChild(stanza, 'participants'), 'to').flatMap((to) =>
    listChildren(to, 'enc').map((enc) => ({ jid: to.attrs.jid ?? '', enc })),
  );
  const jid = stanza.attrs.participant ?? stanza.attrs.to ?? '';
  const direct = listChildren(stanza, 'enc').filter(({ attrs }) => attrs.type !== 'skmsg');
  return [...listed, ...direct.map((enc) => ({ jid, enc }))];
}

/**
 * The number of phones that actually decrypt a group message; decryption takes 12 ms and all phones
 * run in this process.
 */
const OPENED_BY = 20;

/** In a large group, most phones check only that they have the sender key. */
async function decryptInGroup(
  account: SimulatedAccount,
  group: Group,
  author: string,
  ciphertext: Uint8Array,
): Promise<PhoneDecryption[]> {
  const readings: PhoneDecryption[] = [];
  for (const { lid } of group.members) {
    const person = account.people.get(lid);
    if (person === account.me) continue;
    const opened = readings.length < OPENED_BY ? undefined : readings[0]?.message;
    const message =
      opened !== undefined && person.phone.hasGroupKey(group.jid, author)
        ? opened
        : await attemptDecryption(() => person.phone.openFromGroup(group.jid, author, ciphertext));
    readings.push({ person, message });
  }
  return readings;
}

/** A phone requests a message again for any decryption error. */
async function attemptDecryption(
  open: () => Promise<proto.IMessage>,
): Promise<proto.IMessage | undefined> {
  try {
    return await open();
  } catch {
    return undefined;
  }
}

/**
 * Whether the device is the client itself: Baileys encrypts its group keys for its own device, too.
 */
function isClientDevice({ companion }: SimulatedAccount, jid: string): boolean {
  return companion !== undefined && (jid === companion.pn || jid === companion.lid);
}

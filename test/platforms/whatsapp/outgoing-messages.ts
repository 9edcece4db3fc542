import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { type Account, type Chat, findChat, linked, seconds } from './account.ts';
import type { SendFault } from './faults.ts';
import { isMember } from './groups.ts';
import type { Person } from './people.ts';
import { askAgain, tellDelivered } from './people-receipts.ts';
import { readContent } from './read-content.ts';
import type { ClientLink } from './wire/client-link.ts';
import { bytes, child, children, node } from './wire/nodes.ts';

interface Reading {
  readonly person: Person;
  readonly message: proto.IMessage | undefined;
}

/** A message of the bot: faults first, then people read it, then the server answers. */
export async function takeMessage(
  account: Account,
  link: ClientLink,
  stanza: BinaryNode,
): Promise<void> {
  const to = stanza.attrs.to ?? '';
  const chat = findChat(account, to);
  const fault = account.faults.takeSend(chat?.id ?? to);
  const code = fault?.kind === 'refuse' ? fault.code : refusalOf(account, chat);
  const isLost = code !== undefined || (isQuiet(fault) && fault.lost === true);
  const readings = chat === undefined || isLost ? [] : await readAll(account, chat, stanza);
  const message = readings.find((reading) => reading.message !== undefined)?.message;
  account.transcript.recordSend({
    id: stanza.attrs.id ?? '',
    to,
    devices: children(child(stanza, 'participants'), 'to').map(({ attrs }) => attrs.jid ?? ''),
    readers: readings.flatMap((reading) => (reading.message ? [reading.person.id] : [])),
    unreadable: readings.flatMap((reading) => (reading.message ? [] : [reading.person.id])),
    attrs: { ...stanza.attrs },
    ...(message === undefined ? {} : { message }),
    outcome: outcomeOf(fault, code),
  });
  answer(account, link, stanza, fault, code);
  if (chat === undefined || isLost) return;
  for (const reading of readings) {
    if (reading.message === undefined) askAgain(account, chat, reading.person, stanza);
    else if (!isQuiet(fault)) tellDelivered(account, chat, reading.person, stanza);
  }
  if (message !== undefined) {
    const saying = { chat: chat.id, from: 'bot', id: stanza.attrs.id ?? '' };
    account.transcript.apply(saying, readContent(message));
  }
}

/** The error of the servers for what they do not take; undefined when they take it. */
function refusalOf({ me }: Account, chat: Chat | undefined): number | undefined {
  if (chat === undefined) return 404;
  if (chat.kind !== 'group') return undefined;
  const { group } = chat;
  const mayWrite = isMember(group, me) && (!group.announce || group.admins.has(me.lid));
  return mayWrite ? undefined : 403;
}

function isQuiet(fault: SendFault | undefined): fault is SendFault & { kind: 'drop' | 'no-ack' } {
  return fault?.kind === 'drop' || fault?.kind === 'no-ack';
}

function outcomeOf(fault: SendFault | undefined, code: number | undefined) {
  if (code !== undefined) return code;
  if (fault?.kind === 'drop') return 'dropped';
  return fault?.kind === 'no-ack' ? 'no-ack' : 'acked';
}

function answer(
  account: Account,
  link: ClientLink,
  { attrs }: BinaryNode,
  fault: SendFault | undefined,
  error: number | undefined,
): void {
  const ack = node('ack', {
    class: 'message',
    id: attrs.id,
    from: attrs.to,
    t: seconds(account),
    error,
  });
  if (fault?.kind === 'drop') link.drop();
  else if (fault?.kind === 'late-ack') setTimeout(() => link.send(ack), fault.ms).unref();
  else if (fault?.kind !== 'no-ack') link.send(ack);
}

/** Everyone opens what was sealed for them; own devices are left out of what comes back. */
async function readAll(account: Account, chat: Chat, stanza: BinaryNode): Promise<Reading[]> {
  const sealed = [
    ...children(child(stanza, 'participants'), 'to').map((to) => ({
      jid: to.attrs.jid ?? '',
      enc: child(to, 'enc'),
    })),
    // Sent again to one device: the seal stands in the message itself.
    ...children(stanza, 'enc')
      .filter(({ attrs }) => attrs.type !== 'skmsg')
      .map((enc) => ({ jid: stanza.attrs.participant ?? stanza.attrs.to ?? '', enc })),
  ];
  const readings: Reading[] = [];
  for (const { jid, enc } of sealed) {
    const person = account.people.find(jid);
    if (person === undefined || enc === undefined || isCompanion(account, jid)) continue;
    const message = await open(account, person, enc);
    if (person !== account.me) readings.push({ person, message });
  }
  const forAll = children(stanza, 'enc').find(({ attrs }) => attrs.type === 'skmsg');
  if (chat.kind !== 'group' || forAll === undefined) return readings;
  return readGroup(account, chat, forAll);
}

async function readGroup(
  account: Account,
  { group }: Chat & { readonly kind: 'group' },
  enc: BinaryNode,
): Promise<Reading[]> {
  const author = linked(account).lid;
  const readings: Reading[] = [];
  for (const member of group.members) {
    const person = account.people.get(member.lid);
    if (person === account.me) continue;
    const message = await attempt(() => person.phone.openFromGroup(group.jid, author, bytes(enc)));
    readings.push({ person, message });
  }
  return readings;
}

function open(
  account: Account,
  person: Person,
  enc: BinaryNode,
): Promise<proto.IMessage | undefined> {
  const author = linked(account).lid;
  return attempt(() => person.phone.open(author, enc.attrs.type ?? '', bytes(enc)));
}

/** A phone that cannot open a message asks for it again, whatever the reason. */
async function attempt(read: () => Promise<proto.IMessage>): Promise<proto.IMessage | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}

function isCompanion(account: Account, jid: string): boolean {
  const { companion } = account;
  return companion !== undefined && (jid === companion.pn || jid === companion.lid);
}

import type { BinaryNode } from '@whiskeysockets/baileys';
import { type Account, type Chat, findChat, seconds } from './account.ts';
import type { SendFault } from './faults.ts';
import { isMember } from './groups.ts';
import { openForAll, type Reading } from './open-seals.ts';
import { askAgain, tellDelivered } from './people-receipts.ts';
import { readContent } from './read-content.ts';
import type { ClientLink } from './wire/client-link.ts';
import { child, children, node } from './wire/nodes.ts';

/** A message of the bot: people's phones open it, people see it, then the server answers. */
export async function takeMessage(
  account: Account,
  link: ClientLink,
  stanza: BinaryNode,
): Promise<void> {
  const to = stanza.attrs.to ?? '';
  const chat = findChat(account, to);
  const fault = account.faults.takeSend(chat?.id ?? to);
  const code = fault?.kind === 'refuse' ? fault.code : refusalOf(account, chat);
  const isLost = code !== undefined || isLosing(fault);
  const readings = chat === undefined || isLost ? [] : await openForAll(account, chat, stanza);
  record(account, stanza, readings, outcomeOf(fault, code));
  const message = readings.find((reading) => reading.message !== undefined)?.message;
  if (chat !== undefined && message !== undefined) {
    const source = { chat: chat.id, from: 'bot', id: stanza.attrs.id ?? '' };
    account.transcript.apply(source, readContent(message));
  }
  const settle = () => {
    if (fault?.kind === 'drop') link.drop();
    else if (fault?.kind !== 'no-ack') link.send(ackNode(account, stanza, code));
    if (chat !== undefined && fault?.kind !== 'no-ack') tellAll(account, chat, stanza, readings);
  };
  if (fault?.kind === 'late-ack') setTimeout(settle, fault.ms).unref();
  else settle();
}

/** The error of the servers for what they do not take; undefined when they take it. */
function refusalOf({ me }: Account, chat: Chat | undefined): number | undefined {
  if (chat === undefined) return 404;
  if (chat.kind !== 'group') return undefined;
  const { group } = chat;
  const mayWrite = isMember(group, me) && (!group.announce || group.admins.has(me.lid));
  return mayWrite ? undefined : 403;
}

function isLosing(fault: SendFault | undefined): boolean {
  return (fault?.kind === 'drop' || fault?.kind === 'no-ack') && fault.lost === true;
}

function outcomeOf(fault: SendFault | undefined, code: number | undefined) {
  if (code !== undefined) return code;
  if (fault?.kind === 'drop') return 'dropped';
  return fault?.kind === 'no-ack' ? 'no-ack' : 'acked';
}

function record(
  account: Account,
  stanza: BinaryNode,
  readings: readonly Reading[],
  outcome: 'acked' | 'no-ack' | 'dropped' | number,
): void {
  const message = readings.find((reading) => reading.message !== undefined)?.message;
  const those = (canRead: boolean) =>
    readings.filter((reading) => (reading.message !== undefined) === canRead);
  account.transcript.recordSend({
    id: stanza.attrs.id ?? '',
    to: stanza.attrs.to ?? '',
    devices: children(child(stanza, 'participants'), 'to').map(({ attrs }) => attrs.jid ?? ''),
    readers: those(true).map(({ person }) => person.id),
    unreadable: those(false).map(({ person }) => person.id),
    attrs: { ...stanza.attrs },
    ...(message === undefined ? {} : { message }),
    outcome,
  });
}

function ackNode(account: Account, { attrs }: BinaryNode, error: number | undefined): BinaryNode {
  const { id, to } = attrs;
  return node('ack', { class: 'message', id, from: to, t: seconds(account), error });
}

function tellAll(
  account: Account,
  chat: Chat,
  stanza: BinaryNode,
  readings: readonly Reading[],
): void {
  for (const { person, message } of readings) {
    if (message === undefined) askAgain(account, chat, person, stanza);
    else tellDelivered(account, chat, person, stanza);
  }
}

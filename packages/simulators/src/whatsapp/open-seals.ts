import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { type Account, type Chat, linked } from './account.ts';
import type { Group } from './groups.ts';
import type { Person } from './people.ts';
import { bytes, child, children } from './wire/nodes.ts';

/** A person's phone with a message, and what it found in it; undefined when it cannot be opened. */
export interface Reading {
  readonly person: Person;
  readonly message: proto.IMessage | undefined;
}

/** Everyone opens what was sealed for them. The account's own phone does too, but is left out of the answer. */
export async function openForAll(
  account: Account,
  chat: Chat,
  stanza: BinaryNode,
): Promise<Reading[]> {
  const author = linked(account).lid;
  const readings: Reading[] = [];
  for (const { jid, enc } of sealsOf(stanza)) {
    const person = account.people.find(jid);
    if (person === undefined || isClient(account, jid)) continue;
    const { type = '' } = enc.attrs;
    const message = await attempt(() => person.phone.open(author, type, bytes(enc)));
    if (person !== account.me) readings.push({ person, message });
  }
  const forAll = children(stanza, 'enc').find(({ attrs }) => attrs.type === 'skmsg');
  if (chat.kind !== 'group' || forAll === undefined) return readings;
  return openInGroup(account, chat.group, author, bytes(forAll));
}

/** What was sealed for single devices. Sent again to one device, the seal stands in the message itself. */
function sealsOf(stanza: BinaryNode): { readonly jid: string; readonly enc: BinaryNode }[] {
  const listed = children(child(stanza, 'participants'), 'to').flatMap((to) =>
    children(to, 'enc').map((enc) => ({ jid: to.attrs.jid ?? '', enc })),
  );
  const jid = stanza.attrs.participant ?? stanza.attrs.to ?? '';
  const direct = children(stanza, 'enc').filter(({ attrs }) => attrs.type !== 'skmsg');
  return [...listed, ...direct.map((enc) => ({ jid, enc }))];
}

/** Opening a message takes 12 ms, and all phones of a group would do so in this process. */
const OPENED_BY = 20;

/** In a large group most phones only look whether they have the key. */
async function openInGroup(
  account: Account,
  group: Group,
  author: string,
  ciphertext: Uint8Array,
): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const { lid } of group.members) {
    const person = account.people.get(lid);
    if (person === account.me) continue;
    const opened = readings.length < OPENED_BY ? undefined : readings[0]?.message;
    const message =
      opened !== undefined && person.phone.hasGroupKey(group.jid, author)
        ? opened
        : await attempt(() => person.phone.openFromGroup(group.jid, author, ciphertext));
    readings.push({ person, message });
  }
  return readings;
}

/** A phone that cannot open a message asks for it again, whatever the reason. */
async function attempt(open: () => Promise<proto.IMessage>): Promise<proto.IMessage | undefined> {
  try {
    return await open();
  } catch {
    return undefined;
  }
}

/** Whether this is the client itself; Baileys seals its group keys for itself too. */
function isClient({ companion }: Account, jid: string): boolean {
  return companion !== undefined && (jid === companion.pn || jid === companion.lid);
}

import type { BinaryNode } from '@whiskeysockets/baileys';
import { type Account, type Chat, seconds } from './account.ts';
import type { Person } from './people.ts';
import { receiptRoute } from './routes.ts';
import { signedBundleNodes } from './signal/key-bundle.ts';
import { bigEndian, node } from './wire/nodes.ts';

/** How often a phone asks for the same message before it gives up, as real ones do. */
const MOST_RETRIES = 5;

/** A person's phone has the message: two grey ticks. */
export function tellDelivered(
  account: Account,
  chat: Chat,
  person: Person,
  sent: BinaryNode,
): void {
  const attrs = {
    ...receiptRoute(chat, person, sent.attrs.to),
    id: sent.attrs.id,
    t: seconds(account),
  };
  account.mailbox.put(node('receipt', attrs), chat.id);
}

/** A person has read messages: two blue ticks. */
export function tellRead(
  account: Account,
  chat: Chat,
  person: Person,
  ids: readonly string[],
): void {
  const [first, ...others] = ids;
  if (first === undefined) return;
  const items = others.map((id) => node('item', { id }));
  const attrs = { ...receiptRoute(chat, person), id: first, type: 'read', t: seconds(account) };
  const list = items.length === 0 ? undefined : [node('list', {}, items)];
  account.mailbox.put(node('receipt', attrs, list), chat.id);
  account.transcript.read(chat.id, ids, person.id);
}

/** A person's phone cannot open the message and asks for it again, from the second time with new keys. */
export function askAgain(account: Account, chat: Chat, person: Person, sent: BinaryNode): void {
  const id = sent.attrs.id ?? '';
  const before = account.transcript.sends.filter(
    (send) => send.id === id && send.unreadable.includes(person.id),
  );
  const count = before.length;
  if (count > MOST_RETRIES) return;
  const t = seconds(account);
  const { registrationId, signedIdentityKey } = person.phone.creds;
  const keys = node('keys', {}, [
    node('type', {}, Buffer.from([5])),
    node('identity', {}, signedIdentityKey.public),
    ...signedBundleNodes(person.phone.bundle()),
  ]);
  account.mailbox.put(
    node('receipt', { ...receiptRoute(chat, person, sent.attrs.to), id, type: 'retry', t }, [
      node('retry', { v: 1, count, id, t }),
      node('registration', {}, bigEndian(registrationId, 4)),
      ...(count > 1 ? [keys] : []),
    ]),
    chat.id,
  );
}

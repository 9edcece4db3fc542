import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Account } from '../account.ts';
import type { Person } from '../people.ts';
import { bytes, child, children, node, result } from '../wire/nodes.ts';

/** Answers `usync`: who is on WhatsApp, with which devices and which LID. */
export function answerUserQuery(account: Account, query: BinaryNode): BinaryNode {
  const asked = child(query, 'usync');
  const protocols = children(child(asked, 'query')).map(({ tag }) => tag);
  const users = children(child(asked, 'list'), 'user').map((user) => {
    const number = bytes(child(user, 'contact')).toString().replace('+', '');
    const jid = user.attrs.jid ?? `${number}@s.whatsapp.net`;
    const person = account.people.find(jid);
    return node('user', { jid }, facts(account, person, protocols));
  });
  const { sid, context, mode } = asked?.attrs ?? {};
  return result(query, [
    node('usync', { sid, context, mode, index: 0, last: 'true' }, [
      node(
        'result',
        {},
        protocols.map((tag) => node(tag)),
      ),
      node('list', {}, users),
    ]),
  ]);
}

function facts(account: Account, person: Person | undefined, protocols: string[]): BinaryNode[] {
  return protocols.flatMap((protocol) => {
    if (protocol === 'contact') return node('contact', { type: person ? 'in' : 'out' });
    if (person === undefined) return [];
    if (protocol === 'devices') return devices(account, person);
    if (protocol === 'lid') return node('lid', { val: person.lid });
    if (protocol === 'status') return node('status', { code: 401, t: 0 });
    if (protocol === 'disappearing_mode') return node('disappearing_mode', { duration: 0, t: 0 });
    return [];
  });
}

/** Everyone has a phone, device 0; the bot's account has the linked client too. */
function devices(account: Account, person: Person): BinaryNode {
  const companion = person === account.me ? account.companion : undefined;
  const list = [
    node('device', { id: 0 }),
    ...(companion === undefined
      ? []
      : [node('device', { id: companion.device, 'key-index': companion.device })]),
  ];
  return node('devices', {}, [node('device-list', { hash: '2:double' }, list)]);
}

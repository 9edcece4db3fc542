import { type BinaryNode, jidDecode } from '@whiskeysockets/baileys';
import { type Account, linked } from '../account.ts';
import { bundleNodes, type KeyBundle, readBundle, readOneTimeKeys } from '../signal/key-bundle.ts';
import { children, node, refusal, result } from '../wire/nodes.ts';

/** Answers what is asked about Signal keys: how many are left, those of others, new ones. */
export function answerKeyQuery(account: Account, query: BinaryNode): BinaryNode {
  const companion = linked(account);
  const [asked] = children(query);
  if (query.attrs.type === 'get') {
    if (asked?.tag === 'count') {
      return result(query, [node('count', { value: companion.keysLeft })]);
    }
    if (asked?.tag === 'key') return handOut(account, query, children(asked, 'user'));
    if (asked?.tag === 'digest') return result(query, [node('digest')]);
    return refusal(query, 400, 'bad-request');
  }
  if (asked?.tag === 'rotate') {
    const { signed } = readBundle(asked, query);
    companion.rotate(signed);
  } else {
    companion.publish(withoutOneTime(readBundle(query)), readOneTimeKeys(query));
  }
  return result(query);
}

function withoutOneTime({ registrationId, identity, signed }: KeyBundle): KeyBundle {
  return { registrationId, identity, signed };
}

function handOut(account: Account, query: BinaryNode, users: BinaryNode[]): BinaryNode {
  const found = users.map(({ attrs }) => {
    const jid = attrs.jid ?? '';
    const bundle = bundleOf(account, jid);
    return bundle === undefined
      ? node('user', { jid }, [node('error', { code: 404, text: 'item-not-found' })])
      : node('user', { jid }, bundleNodes(bundle));
  });
  return result(query, [node('list', {}, found)]);
}

function bundleOf(account: Account, jid: string): KeyBundle | undefined {
  const person = account.people.find(jid);
  const device = jidDecode(jid)?.device ?? 0;
  if (person === account.me && device === account.companion?.device)
    return account.companion.take();
  return device === 0 ? person?.phone.bundle() : undefined;
}

import { type BinaryNode, jidDecode } from '@whiskeysockets/baileys';
import { type Account, linked } from './account.ts';
import { groupNode, isMember } from './groups.ts';
import { UPLOAD_AUTH } from './media.ts';
import type { Person } from './people.ts';
import { bundleNodes, type KeyBundle, readBundle, readOneTimeKeys } from './signal.ts';
import { bytes, child, children, node, refusal, result } from './wire.ts';

type Answer = (account: Account, query: BinaryNode) => BinaryNode;

const MEDIA_TTL_SECONDS = 3600;
const PRIVACY = ['last', 'online', 'profile', 'status', 'groupadd', 'calladd', 'messages'];

/** Query handlers keyed by namespace. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  abt: (_account, query) => result(query, [node('props', { hash: 'double', refresh: 86_400 })]),
  blocklist: (_account, query) => result(query, [node('list', { dhash: 'none' })]),
  encrypt: answerKeyQuery,
  passive: (_account, query) => result(query),
  privacy: answerPrivacyQuery,
  usync: answerUserQuery,
  status: (_account, query) => result(query),
  'urn:xmpp:whatsapp:dirty': (_account, query) => result(query),
  'w:g2': answerGroupQuery,
  'w:m': ({ mediaHost }, query) =>
    result(query, [
      node(
        'media_conn',
        { auth: UPLOAD_AUTH, ttl: MEDIA_TTL_SECONDS, auth_ttl: MEDIA_TTL_SECONDS },
        [node('host', { hostname: mediaHost, type: 'primary' })],
      ),
    ]),
  'w:mex': (_account, query) =>
    result(query, [node('result', {}, Buffer.from(JSON.stringify({ data: UNRESTRICTED })))]),
  'w:p': (_account, query) => result(query),
  'w:profile:picture': (_account, query) => refusal(query, 404, 'item-not-found'),
  'w:stats': (_account, query) => result(query),
  'w:sync:app:state': answerStateQuery,
};

/** The response to the web client's query about restrictions of the account: no restrictions. */
const UNRESTRICTED = {
  xwa2_fetch_account_reachout_timelock: { is_active: false },
  xwa2_message_capping_info: { capping_status: 'NONE' },
};

/** Answers a query as the servers do; unknown queries are refused. */
export function answerQuery(account: Account, query: BinaryNode): BinaryNode {
  const answer = ANSWERS[query.attrs.xmlns ?? ''];
  return answer === undefined
    ? refusal(query, 501, 'feature-not-implemented')
    : answer(account, query);
}

function answerPrivacyQuery(_account: Account, query: BinaryNode): BinaryNode {
  const [asked] = children(query);
  if (asked?.tag === 'tokens') return result(query, [node('tokens')]);
  const categories = PRIVACY.map((name) => node('category', { name, value: 'all' }));
  const receipts = node('category', { name: 'readreceipts', value: 'all' });
  return result(query, [node('privacy', {}, [...categories, receipts])]);
}

/** The double does not synchronize chats, settings and contacts between devices. */
function answerStateQuery(_account: Account, query: BinaryNode): BinaryNode {
  const [sync] = children(query, 'sync');
  const collections = children(sync, 'collection').map(({ attrs }) =>
    node('collection', { name: attrs.name, version: attrs.version, type: 'result' }),
  );
  return result(query, [node('sync', {}, collections)]);
}

/**
 * Answers queries about Signal keys: the number of remaining keys, other people's keys, and uploads
 * of new keys.
 */
function answerKeyQuery(account: Account, query: BinaryNode): BinaryNode {
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

/**
 * Answers `usync` queries, which ask whether numbers use WhatsApp, with which devices and which
 * LID.
 */
function answerUserQuery(account: Account, query: BinaryNode): BinaryNode {
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

/** Every person has a phone, device 0; the bot's account also has the linked client. */
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

/** Answers queries about groups; groups that do not include the bot are inaccessible. */
function answerGroupQuery(account: Account, query: BinaryNode): BinaryNode {
  const [asked] = children(query);
  const mine = account.groups.all.filter((group) => isMember(group, account.me));
  if (asked?.tag === 'participating') {
    return result(query, [node('groups', {}, mine.map(groupNode))]);
  }
  if (asked?.tag === 'leave') return leave(account, query, asked);
  const group = account.groups.find(query.attrs.to ?? '');
  if (group === undefined) return refusal(query, 404, 'item-not-found');
  if (!mine.includes(group)) return refusal(query, 403, 'forbidden');
  if (asked?.tag === 'query') return result(query, [groupNode(group)]);
  return refusal(query, 501, 'feature-not-implemented');
}

function leave(account: Account, query: BinaryNode, asked: BinaryNode): BinaryNode {
  const jid = child(asked, 'group')?.attrs.id ?? '';
  const group = account.groups.find(jid);
  if (group === undefined) return refusal(query, 404, 'item-not-found');
  const members = group.members.filter(({ lid }) => lid !== account.me.lid);
  account.groups.change(jid, { members });
  return result(query, [node('leave', {}, [node('group', { id: jid })])]);
}

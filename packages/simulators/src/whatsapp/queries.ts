import { type BinaryNode, jidDecode } from '@whiskeysockets/baileys';
import { requireCompanion, type SimulatedAccount } from './account.ts';
import { buildGroupNode, isMember } from './groups.ts';
import { UPLOAD_AUTH } from './media.ts';
import type { Person } from './people.ts';
import { buildBundleNodes, type KeyBundle, parseKeyBundle, parseOneTimeKeys } from './signal.ts';
import {
  buildNode,
  createRefusal,
  createResult,
  findChild,
  listChildren,
  readBytes,
} from './wire.ts';

type QueryHandler = (account: SimulatedAccount, query: BinaryNode) => BinaryNode;

const MEDIA_TTL_SECONDS = 3600;
const PRIVACY = ['last', 'online', 'profile', 'status', 'groupadd', 'calladd', 'messages'];

/** Query handlers keyed by namespace. */
const ANSWERS: Readonly<Record<string, QueryHandler>> = {
  abt: (_account, query) =>
    createResult(query, [buildNode('props', { hash: 'double', refresh: 86_400 })]),
  blocklist: (_account, query) => createResult(query, [buildNode('list', { dhash: 'none' })]),
  encrypt: answerKeyQuery,
  passive: (_account, query) => createResult(query),
  privacy: answerPrivacyQuery,
  usync: answerUserQuery,
  status: (_account, query) => createResult(query),
  'urn:xmpp:whatsapp:dirty': (_account, query) => createResult(query),
  'w:g2': answerGroupQuery,
  'w:m': ({ mediaHost }, query) =>
    createResult(query, [
      buildNode(
        'media_conn',
        { auth: UPLOAD_AUTH, ttl: MEDIA_TTL_SECONDS, auth_ttl: MEDIA_TTL_SECONDS },
        [buildNode('host', { hostname: mediaHost, type: 'primary' })],
      ),
    ]),
  'w:mex': (_account, query) =>
    createResult(query, [
      buildNode('result', {}, Buffer.from(JSON.stringify({ data: UNRESTRICTED }))),
    ]),
  'w:p': (_account, query) => createResult(query),
  'w:profile:picture': (_account, query) => createRefusal(query, 404, 'item-not-found'),
  'w:stats': (_account, query) => createResult(query),
  'w:sync:app:state': answerStateQuery,
};

/** The response to the web client's query about account restrictions: there are none. */
const UNRESTRICTED = {
  xwa2_fetch_account_reachout_timelock: { is_active: false },
  xwa2_message_capping_info: { capping_status: 'NONE' },
};

/** Answers a query as the servers do; unknown queries are refused. */
export function answerQuery(account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const answer = ANSWERS[query.attrs.xmlns ?? ''];
  return answer === undefined
    ? createRefusal(query, 501, 'feature-not-implemented')
    : answer(account, query);
}

function answerPrivacyQuery(_account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const [asked] = listChildren(query);
  if (asked?.tag === 'tokens') return createResult(query, [buildNode('tokens')]);
  const categories = PRIVACY.map((name) => buildNode('category', { name, value: 'all' }));
  const receipts = buildNode('category', { name: 'readreceipts', value: 'all' });
  return createResult(query, [buildNode('privacy', {}, [...categories, receipts])]);
}

/** The double does not synchronize chats, settings and contacts between devices. */
function answerStateQuery(_account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const [sync] = listChildren(query, 'sync');
  const collections = listChildren(sync, 'collection').map(({ attrs }) =>
    buildNode('collection', { name: attrs.name, version: attrs.version, type: 'result' }),
  );
  return createResult(query, [buildNode('sync', {}, collections)]);
}

/**
 * Answers queries about Signal keys: the number of remaining keys, other people's keys, and uploads
 * of new keys.
 */
function answerKeyQuery(account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const companion = requireCompanion(account);
  const [asked] = listChildren(query);
  if (query.attrs.type === 'get') {
    if (asked?.tag === 'count') {
      return createResult(query, [buildNode('count', { value: companion.keysLeft })]);
    }
    if (asked?.tag === 'key') return buildKeyBundles(account, query, listChildren(asked, 'user'));
    if (asked?.tag === 'digest') return createResult(query, [buildNode('digest')]);
    return createRefusal(query, 400, 'bad-request');
  }
  if (asked?.tag === 'rotate') {
    const { signed } = parseKeyBundle(asked, query);
    companion.rotate(signed);
  } else {
    companion.publish(omitOneTimeKey(parseKeyBundle(query)), parseOneTimeKeys(query));
  }
  return createResult(query);
}

function omitOneTimeKey({ registrationId, identity, signed }: KeyBundle): KeyBundle {
  return { registrationId, identity, signed };
}

function buildKeyBundles(
  account: SimulatedAccount,
  query: BinaryNode,
  users: BinaryNode[],
): BinaryNode {
  const found = users.map(({ attrs }) => {
    const jid = attrs.jid ?? '';
    const bundle = getKeyBundle(account, jid);
    return bundle === undefined
      ? buildNode('user', { jid }, [buildNode('error', { code: 404, text: 'item-not-found' })])
      : buildNode('user', { jid }, buildBundleNodes(bundle));
  });
  return createResult(query, [buildNode('list', {}, found)]);
}

function getKeyBundle(account: SimulatedAccount, jid: string): KeyBundle | undefined {
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
function answerUserQuery(account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const asked = findChild(query, 'usync');
  const protocols = listChildren(findChild(asked, 'query')).map(({ tag }) => tag);
  const users = listChildren(findChild(asked, 'list'), 'user').map((user) => {
    const number = readBytes(findChild(user, 'contact')).toString().replace('+', '');
    const jid = user.attrs.jid ?? `${number}@s.whatsapp.net`;
    const person = account.people.find(jid);
    return buildNode('user', { jid }, buildUserNodes(account, person, protocols));
  });
  const { sid, context, mode } = asked?.attrs ?? {};
  return createResult(query, [
    buildNode('usync', { sid, context, mode, index: 0, last: 'true' }, [
      buildNode(
        'result',
        {},
        protocols.map((tag) => buildNode(tag)),
      ),
      buildNode('list', {}, users),
    ]),
  ]);
}

function buildUserNodes(
  account: SimulatedAccount,
  person: Person | undefined,
  protocols: string[],
): BinaryNode[] {
  return protocols.flatMap((protocol) => {
    if (protocol === 'contact') return buildNode('contact', { type: person ? 'in' : 'out' });
    if (person === undefined) return [];
    if (protocol === 'devices') return buildDeviceList(account, person);
    if (protocol === 'lid') return buildNode('lid', { val: person.lid });
    if (protocol === 'status') return buildNode('status', { code: 401, t: 0 });
    if (protocol === 'disappearing_mode')
      return buildNode('disappearing_mode', { duration: 0, t: 0 });
    return [];
  });
}

/** Every person has a phone, device 0; the bot's account also has the linked client. */
function buildDeviceList(account: SimulatedAccount, person: Person): BinaryNode {
  const companion = person === account.me ? account.companion : undefined;
  const list = [
    buildNode('device', { id: 0 }),
    ...(companion === undefined
      ? []
      : [buildNode('device', { id: companion.device, 'key-index': companion.device })]),
  ];
  return buildNode('devices', {}, [buildNode('device-list', { hash: '2:double' }, list)]);
}

/** Answers queries about groups; groups that do not include the bot are inaccessible. */
function answerGroupQuery(account: SimulatedAccount, query: BinaryNode): BinaryNode {
  const [asked] = listChildren(query);
  const mine = account.groups.all.filter((group) => isMember(group, account.me));
  if (asked?.tag === 'participating') {
    return createResult(query, [buildNode('groups', {}, mine.map(buildGroupNode))]);
  }
  if (asked?.tag === 'leave') return leaveGroup(account, query, asked);
  const group = account.groups.find(query.attrs.to ?? '');
  if (group === undefined) return createRefusal(query, 404, 'item-not-found');
  if (!mine.includes(group)) return createRefusal(query, 403, 'forbidden');
  if (asked?.tag === 'query') return createResult(query, [buildGroupNode(group)]);
  return createRefusal(query, 501, 'feature-not-implemented');
}

function leaveGroup(account: SimulatedAccount, query: BinaryNode, asked: BinaryNode): BinaryNode {
  const jid = findChild(asked, 'group')?.attrs.id ?? '';
  const group = account.groups.find(jid);
  if (group === undefined) return createRefusal(query, 404, 'item-not-found');
  const members = group.members.filter(({ lid }) => lid !== account.me.lid);
  account.groups.change(jid, { members });
  return createResult(query, [buildNode('leave', {}, [buildNode('group', { id: jid })])]);
}

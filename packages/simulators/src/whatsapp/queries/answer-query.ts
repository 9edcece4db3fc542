import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Account } from '../account.ts';
import { UPLOAD_AUTH } from '../media/media-host.ts';
import { children, node, refusal, result } from '../wire/nodes.ts';
import { answerGroupQuery } from './group-queries.ts';
import { answerKeyQuery } from './key-queries.ts';
import { answerUserQuery } from './user-queries.ts';

type Answer = (account: Account, query: BinaryNode) => BinaryNode;

const MEDIA_TTL_SECONDS = 3600;
const PRIVACY = ['last', 'online', 'profile', 'status', 'groupadd', 'calladd', 'messages'];

/** What the servers answer, by the namespace of the query. */
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

/** What the account may do, as the web client asks: everything. */
const UNRESTRICTED = {
  xwa2_fetch_account_reachout_timelock: { is_active: false },
  xwa2_message_capping_info: { capping_status: 'NONE' },
};

/** Answers a query as the servers do; what they do not know, they refuse. */
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

/** Nothing of chats, settings and contacts is shared between devices here. */
function answerStateQuery(_account: Account, query: BinaryNode): BinaryNode {
  const [sync] = children(query, 'sync');
  const collections = children(sync, 'collection').map(({ attrs }) =>
    node('collection', { name: attrs.name, version: attrs.version, type: 'result' }),
  );
  return result(query, [node('sync', {}, collections)]);
}

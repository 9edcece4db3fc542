import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Account } from '../account.ts';
import { groupNode, isMember } from '../groups.ts';
import { child, children, node, refusal, result } from '../wire/nodes.ts';

/** Answers what is asked about groups; those without the bot are closed to it. */
export function answerGroupQuery(account: Account, query: BinaryNode): BinaryNode {
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

import type { InboundMessage } from '@parley/core';
import type { AdmittedMessage, Store } from '@parley/store';
import type { SenderFacts } from '../adapter.ts';
import { decideAccess } from './decide.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { askPlatform, personId } from './sender.ts';

/** What one conversation gets at most. */
const MAX_EARLIER = 50;

/**
 * The messages that were said in a group before this one and are not known, oldest first: context of its turn (F06).
 * What is older than a known one was taken in, or left out, at its time. Access decides as for any message (F05).
 */
export async function earlierMessages(
  { store, rules, log }: Pick<IngressDeps, 'rules' | 'log'> & { readonly store: Earlier },
  { message }: AdmittedMessage,
  { earlier }: SenderFacts,
): Promise<readonly InboundMessage[]> {
  const { channel, account, chat } = message;
  if (earlier === undefined || chat.type === 'direct') return [];
  const all = await askPlatform(earlier, 'what was said before', log);
  const unknown: InboundMessage[] = [];
  for (const one of (all ?? []).slice(-MAX_EARLIER).reverse()) {
    const key = { channel, account, chatId: chat.id, messageId: one.messageId };
    if ((await store.reactions.message(key)) !== null) break;
    const rights = { isOwner: rules.owners.includes(personId(one)), isAllowed: false };
    const isPlain = one.chat.id === chat.id && one.text.trim() !== '';
    const isAllowed = decideAccess(one, rules.policy, rights).kind === 'allowed';
    if (isPlain && isAllowed) unknown.unshift(one);
  }
  return unknown;
}

type Earlier = Pick<Store, 'reactions'>;

import type { InboundMessage } from '@parley/contracts';
import type { AccessMode, AccountPolicy } from './policy.ts';

/** Whether a sender may talk to the bot here, and if not, why. */
export type AccessDecision =
  | { readonly kind: 'allowed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** `telegram:42`: how owners are named in the settings and people in the runtime facts. */
export function personId(message: Pick<InboundMessage, 'channel' | 'sender'>): string {
  return `${message.channel}:${message.sender.id}`;
}

/**
 * Decides access (F05). Owners may always write in direct chats; in groups the group decides,
 * whoever writes. Anything not clearly allowed is refused.
 */
export function decideAccess(
  message: InboundMessage,
  policy: AccountPolicy,
  owners: readonly string[],
): AccessDecision {
  const { access } = policy;
  if (message.chat.type !== 'direct') {
    return byMode(access.groups, access.allowGroups.includes(message.chat.id), 'group');
  }
  if (owners.includes(personId(message))) return { kind: 'allowed', reason: 'owner' };
  return byMode(access.direct, access.allow.includes(message.sender.id), 'sender');
}

function byMode(mode: AccessMode, named: boolean, who: 'sender' | 'group'): AccessDecision {
  if (mode === 'open') return { kind: 'allowed', reason: `${who}s are open` };
  if (mode === 'allowlist' && named)
    return { kind: 'allowed', reason: `${who} is on the allow list` };
  const why = mode === 'disabled' ? `${who}s are disabled` : `${who} is not on the allow list`;
  return { kind: 'refused', reason: why };
}

import type { InboundMessage } from '@parley/contracts';
import type { AccountPolicy, DirectMode, GroupMode } from './policy.ts';
import type { Standing } from './standing.ts';

/** Whether a sender may talk to the bot here, and if not, why, and what a stranger is to be told. */
export type AccessDecision =
  | { readonly kind: 'allowed'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly tell: StrangerNews | null };

/** `stranger`: how to be let in through the settings. `pairing`: with a code. */
export type StrangerNews = 'stranger' | 'pairing';

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
  { access }: Pick<AccountPolicy, 'access'>,
  standing: Pick<Standing, 'isOwner' | 'isLetIn'>,
): AccessDecision {
  const { chat, sender } = message;
  if (chat.type !== 'direct') return ofGroup(access.groups, access.allowGroups.includes(chat.id));
  if (standing.isOwner) return { kind: 'allowed', reason: 'written by an owner' };
  return ofSender(access.direct, access.allow.includes(sender.id), standing.isLetIn);
}

/** In a group that is not served an explanation would be noise, and would tell that a bot listens. */
function ofGroup(mode: GroupMode, isNamed: boolean): AccessDecision {
  if (mode === 'open') return { kind: 'allowed', reason: 'all groups are served' };
  if (mode === 'allowlist' && isNamed) {
    return { kind: 'allowed', reason: 'the group is on the allow list' };
  }
  return mode === 'allowlist'
    ? { kind: 'refused', reason: 'the group is not on the allow list', tell: null }
    : { kind: 'refused', reason: 'groups are disabled', tell: null };
}

function ofSender(mode: DirectMode, isNamed: boolean, isLetIn: boolean): AccessDecision {
  switch (mode) {
    case 'open':
      return { kind: 'allowed', reason: 'direct chats are open to everybody' };
    case 'allowlist':
      return isNamed
        ? { kind: 'allowed', reason: 'the sender is on the allow list' }
        : { kind: 'refused', reason: 'the sender is not on the allow list', tell: 'stranger' };
    case 'pairing':
      if (isNamed) return { kind: 'allowed', reason: 'the sender is on the allow list' };
      return isLetIn
        ? { kind: 'allowed', reason: 'an owner let the sender in' }
        : { kind: 'refused', reason: 'no owner has let the sender in', tell: 'pairing' };
    case 'disabled':
      return { kind: 'refused', reason: 'direct chats are disabled', tell: null };
  }
}

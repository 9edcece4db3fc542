import type { InboundMessage } from '@parley/contracts';
import { conversationIdOf } from './ingress/conversation-id.ts';
import {
  decideAccess,
  ownershipOf,
  personId,
  type StandingDeps,
  standingOf,
} from './ingress/decide.ts';

/** Who somebody is that wrote long ago, as things are now. */
export interface SenderNow {
  readonly isOwner: boolean;
  /** The conversation that their message would belong to. */
  readonly conversationId: string;
  /** Why they could not write there any more; null where they could. */
  readonly refusal: string | null;
}

/** What looking them up needs: the rules of the account that they wrote to. */
export interface SenderNowDeps {
  readonly store: StandingDeps['store'];
  readonly rules: StandingDeps['rules'];
}

/**
 * Looks up who sent a message that is about to have effects again: owners, links and access may have
 * changed since (W02, F05). Rejects when the database does not answer.
 */
export async function senderNow(
  { store, rules }: SenderNowDeps,
  message: InboundMessage,
): Promise<SenderNow> {
  const standing = await standingOf({ store, rules }, message);
  const access = decideAccess(message, rules.policy, standing);
  const { isOwner } = await ownershipOf(store.links, rules.owners, personId(message));
  return {
    isOwner,
    conversationId: standing.mainConversation ?? conversationIdOf(message),
    refusal: access.kind === 'refused' ? access.reason : null,
  };
}

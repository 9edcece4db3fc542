import type { InboundMessage } from '@parley/contracts';
import type { PairingRepository } from '@parley/store';
import { personId } from './access.ts';
import type { DecisionRules } from './decide.ts';

/** What Parley knows of the sender of a message besides the message itself. */
export interface Standing {
  /** The bot belongs to them. */
  readonly isOwner: boolean;
  /** An owner let them in with a code. */
  readonly isLetIn: boolean;
}

/** What looking a sender up needs. */
export interface StandingDeps {
  readonly store: { readonly pairing: Pick<PairingRepository, 'isLetIn'> };
  readonly rules: Pick<DecisionRules, 'policy' | 'owners'>;
}

/**
 * Looks a sender up. The database is asked only where its answer can matter: not for owners, not in
 * groups, and only where pairing is on. Rejects when it does not answer, so that nobody gets in then.
 */
export async function standingOf(
  { store, rules }: StandingDeps,
  message: InboundMessage,
): Promise<Standing> {
  const { channel, account, chat, sender } = message;
  const isOwner = rules.owners.includes(personId(message));
  const { direct, allow } = rules.policy.access;
  const decides = chat.type === 'direct' && direct === 'pairing' && !allow.includes(sender.id);
  if (isOwner || sender.isBot || !decides) return { isOwner, isLetIn: false };
  return { isOwner, isLetIn: await store.pairing.isLetIn(channel, account, sender.id) };
}

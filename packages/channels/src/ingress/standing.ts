import type { InboundMessage } from '@parley/contracts';
import type { LinkRepository, PairingRepository } from '@parley/store';
import { personId } from './access.ts';
import { parseCommand } from './command.ts';
import type { DecisionRules } from './decide.ts';

/** What Parley knows of the sender of a message besides the message itself. */
export interface Standing {
  /** The bot belongs to them. */
  readonly isOwner: boolean;
  /** An owner let them in with a code. */
  readonly isLetIn: boolean;
  /** The conversation that all linked direct chats of this owner share; null for everybody else. */
  readonly mainConversation: string | null;
}

/** What looking a sender up needs. */
export interface StandingDeps {
  readonly store: {
    readonly pairing: Pick<PairingRepository, 'isLetIn'>;
    readonly links: LinkRepository;
  };
  readonly rules: Pick<DecisionRules, 'policy' | 'owners'>;
}

/**
 * Looks a sender up. The database is asked only where its answer can matter: in direct chats, and for
 * the permission of a command. Rejects when it does not answer, so that nobody gets in then.
 */
export async function standingOf(deps: StandingDeps, message: InboundMessage): Promise<Standing> {
  const { store, rules } = deps;
  const { chat, sender } = message;
  const person = personId(message);
  const isDirect = chat.type === 'direct';
  const isNamed = rules.owners.includes(person);
  if (sender.isBot || (!isDirect && parseCommand(message.text) === null)) {
    return { isOwner: isNamed, isLetIn: false, mainConversation: null };
  }
  const { isOwner, mainConversation } = await ownershipOf(store.links, rules.owners, person);
  return {
    isOwner,
    isLetIn: isDirect && !isOwner && (await isLetIn(deps, message)),
    mainConversation: isDirect ? mainConversation : null,
  };
}

/** Whether an account is an owner's now, and the conversation that linked ones share. */
export async function ownershipOf(
  links: LinkRepository,
  owners: readonly string[],
  person: string,
): Promise<Pick<Standing, 'isOwner' | 'mainConversation'>> {
  const link = await links.of(person);
  // One of its accounts is an owner's, who confirmed each of the others.
  const isOwners = link?.byOwner === true && link.members.some((one) => owners.includes(one));
  return {
    isOwner: owners.includes(person) || isOwners,
    mainConversation: isOwners ? link.mainConversation : null,
  };
}

async function isLetIn({ store, rules }: StandingDeps, message: InboundMessage): Promise<boolean> {
  const { channel, account, sender } = message;
  const { direct, allow } = rules.policy.access;
  if (direct !== 'pairing' || allow.includes(sender.id)) return false;
  return store.pairing.isLetIn(channel, account, sender.id);
}

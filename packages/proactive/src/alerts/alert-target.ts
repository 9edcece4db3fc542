/** A chat that an alert could go to. */
export interface KnownChat {
  readonly conversationId: string;
  readonly kind: 'direct' | 'group';
  /** The person in a direct chat, as owners are written: `channel:userId`. */
  readonly person?: string;
  /** When an owner last wrote here (ms); absent: never. */
  readonly ownerWroteAt?: number;
}

/** The group that a task wants told, and the chat that was found by that name; null: none. */
export interface NamedGroup {
  readonly name: string;
  readonly chat: KnownChat | null;
}

/** What decides to whom an alert goes. */
export interface TargetFacts {
  /** Absent: the task names none. */
  readonly tell?: NamedGroup | undefined;
  /** The setting: an owner as `channel:userId`, or `last`. */
  readonly choice: string;
  /** As `channel:userId`. */
  readonly owners: readonly string[];
  /** Direct chats. */
  readonly chats: readonly KnownChat[];
}

/** Where an alert goes; `note`: why it goes elsewhere than the task says. */
export type AlertTarget =
  | { readonly kind: 'chat'; readonly chat: KnownChat; readonly note?: string }
  | { readonly kind: 'nobody'; readonly reason: string };

/**
 * Decides before the model runs (H04): the group that the task itself names, else a direct chat of an
 * owner, and nothing else ever. A name that leads to no group leads to the owner.
 */
export function alertTarget({ tell, ...facts }: TargetFacts): AlertTarget {
  if (tell === undefined) return ownersChat(facts);
  if (tell.chat?.kind === 'group') return { kind: 'chat', chat: tell.chat };
  const note = `no group is called "${tell.name}", so the owner is told`;
  const chosen = ownersChat(facts);
  return chosen.kind === 'chat' ? { ...chosen, note } : chosen;
}

function ownersChat({ choice, owners, chats }: Omit<TargetFacts, 'tell'>): AlertTarget {
  const own = chats.filter(
    ({ kind, person }) => kind === 'direct' && person !== undefined && owners.includes(person),
  );
  const chosen = choice === 'last' ? own : own.filter(({ person }) => person === choice);
  // Only where an owner has written is it known that they can be reached.
  const wrote = chosen.filter(({ ownerWroteAt }) => ownerWroteAt !== undefined);
  const [latest] = wrote.toSorted((a, b) => (b.ownerWroteAt ?? 0) - (a.ownerWroteAt ?? 0));
  if (latest !== undefined) return { kind: 'chat', chat: latest };
  return { kind: 'nobody', reason: noChat(choice, owners) };
}

function noChat(choice: string, owners: readonly string[]): string {
  if (owners.length === 0) return 'the settings name no owner';
  if (choice === 'last') return 'no owner has written in a direct chat yet';
  if (!owners.includes(choice)) return `heartbeat.tell is ${choice}, which is none of the owners`;
  return `${choice} has not written in a direct chat yet`;
}

import type { Chance } from './chance.ts';

/** For whom a canary word was written down: said by the test itself, not asked of the code under test. */
export type MeantFor =
  | { readonly kind: 'owner' }
  | { readonly kind: 'everyone' }
  /** One group's memory. */
  | { readonly kind: 'group'; readonly conversationId: string }
  | Said;

/** What somebody said in a chat, and perhaps asked to be remembered. */
export interface Said {
  readonly kind: 'said';
  readonly conversationId: string;
  /** A turn of the main session has read it, so owners may be reminded of it elsewhere. */
  inMainSession: boolean;
}

/** A word that stands in exactly one place of the workspace. */
export interface Canary {
  readonly word: string;
  readonly meantFor: MeantFor;
  /** The agent in whose workspace it stands, or to which it was said; undefined: the default one. */
  readonly agent: string | undefined;
  /** Where it stands, for people. */
  readonly where: string;
}

/** Every canary of a world, found again in any text whatever its case. */
export interface CanaryBook {
  make(meantFor: MeantFor, where: string): Canary;
  /** The same book for what belongs to another agent. */
  of(agent: string | undefined): CanaryBook;
  /** Any of those that were made, whoever may see it: to be looked for where it must not be found. */
  any(): Canary | undefined;
  /** The canaries that a text holds, each once. */
  found(text: string): ReadonlySet<Canary>;
}

const SHAPE = /canary[a-z0-9]{12}/gi;

/** An empty book. */
export function canaryBook(chance: Chance): CanaryBook {
  const known = new Map<string, Canary>();
  const of = (agent: string | undefined): CanaryBook => ({
    make(meantFor, where) {
      const canary = { word: `canary${chance.letters(12)}`, meantFor, agent, where };
      known.set(canary.word, canary);
      return canary;
    },
    of,
    any: () => (known.size === 0 ? undefined : chance.pick([...known.values()])),
    found(text) {
      const words = (text.match(SHAPE) ?? []).map((word) => known.get(word.toLowerCase()));
      return new Set(words.filter((canary) => canary !== undefined));
    },
  });
  return of(undefined);
}

/** Who reads, by the test's own reckoning. */
export interface Audience {
  readonly agent: string | undefined;
  /** Of that agent. */
  readonly isOwner: boolean;
  readonly conversationId: string;
}

/** The rule of the promise (W02–W04, F14), written down a second time on purpose. */
export function maySee(reader: Audience, { agent, meantFor }: Canary): boolean {
  // Not even what all may read of it: no agent sees another's files, memory or history.
  if (agent !== reader.agent) return false;
  const { isOwner, conversationId } = reader;
  switch (meantFor.kind) {
    case 'everyone':
      return true;
    case 'owner':
      return isOwner;
    case 'group':
      return meantFor.conversationId === conversationId;
    case 'said':
      return meantFor.conversationId === conversationId || (meantFor.inMainSession && isOwner);
  }
}

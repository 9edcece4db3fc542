import type { RandomChance } from './chance.ts';

/**
 * The intended audience of a canary word, as stated by the test itself rather than the code under
 * test.
 */
export type IntendedAudience =
  | { readonly kind: 'owner' }
  | { readonly kind: 'everyone' }
  /** The memory of one group. */
  | { readonly kind: 'group'; readonly conversationId: string }
  | PersonStatement;

/** What a person said in a chat, and perhaps asked to be remembered. */
export interface PersonStatement {
  readonly kind: 'said';
  readonly conversationId: string;
  /** A turn of the main session has read it, so owners may be reminded of it elsewhere. */
  inMainSession: boolean;
}

/** A word that occurs in exactly one place in the workspace. */
export interface Canary {
  readonly word: string;
  readonly meantFor: IntendedAudience;
  /** The agent that owns the workspace or was told the word; undefined for the default agent. */
  readonly agent: string | undefined;
  /** A readable description of the place. */
  readonly where: string;
}

/** Every canary of a world, recognizable in any text regardless of case. */
export interface CanaryBook {
  make(meantFor: IntendedAudience, where: string): Canary;
  /** The same book, for words that belong to another agent. */
  of(agent: string | undefined): CanaryBook;
  /**
   * Any of the canaries created so far, whoever may see it, to be looked for where it must not
   * occur.
   */
  any(): Canary | undefined;
  /** The canaries in a text, without duplicates. */
  found(text: string): ReadonlySet<Canary>;
}

const SHAPE = /canary[a-z0-9]{12}/gi;

export function createCanaryBook(chance: RandomChance): CanaryBook {
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

/** The reader, as determined by the test itself. */
export interface ReaderAudience {
  readonly agent: string | undefined;
  /** Whether the reader owns that agent. */
  readonly isOwner: boolean;
  readonly conversationId: string;
}

/** The rule of the promise (W02–W04, F14), deliberately implemented a second time. */
export function maySee(reader: ReaderAudience, { agent, meantFor }: Canary): boolean {
  // This includes public files: no agent sees another's files, memory or history.
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

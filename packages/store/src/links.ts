import type { ReplyRoute } from '@parley/contracts';

/** The accounts of one person that were linked, by Parley's ids (`telegram:42`). */
export interface Link {
  readonly members: readonly string[];
  /** An owner confirmed each of them. Only such a link lends anybody what its owner may do. */
  readonly byOwner: boolean;
  /** The conversation that an owner's linked direct chats share; nobody else's ever has its name. */
  readonly mainConversation: string;
}

/** Which accounts belong to one person (F13). Written by the command `/link` alone. */
export interface LinkRepository {
  /** The link an account belongs to; null when it was never linked. */
  of(personId: string): Promise<Link | null>;
}

/** What `/link` is asked to do. A code is taken only if the person has none that is valid. */
export type LinkAction =
  | { readonly kind: 'make'; readonly code: string }
  | { readonly kind: 'type'; readonly code: string }
  /** Takes an account out of the link that the person belongs to. */
  | { readonly kind: 'leave'; readonly personId: string };

/** Who asks `/link` for something. */
export interface LinkAsker {
  readonly personId: string;
  readonly isOwner: boolean;
}

/**
 * What `/link` found. An owner's account takes two steps: another account types the code, then the owner
 * types it again where it was made. Otherwise the first typing links.
 */
export type LinkResult =
  /** `typist`: the account that typed the code and waits for the owner's confirmation. */
  | {
      readonly kind: 'code';
      readonly code: string;
      readonly members: readonly string[];
      readonly typist: string | null;
    }
  | { readonly kind: 'unknown-code' }
  /** Typed by the account that made it, before another did. */
  | { readonly kind: 'own-code' }
  /** Another account has typed it already. */
  | { readonly kind: 'taken' }
  /** The code was made by somebody who is no owner and typed by an owner: refused. */
  | { readonly kind: 'owner-must-make' }
  | { readonly kind: 'to-confirm'; readonly code: string; readonly makerRoute: ReplyRoute }
  | {
      readonly kind: 'linked';
      readonly members: readonly string[];
      /** The chat of the other account, to be told. */
      readonly otherRoute: ReplyRoute;
    }
  | { readonly kind: 'left'; readonly personId: string }
  | { readonly kind: 'not-linked' };

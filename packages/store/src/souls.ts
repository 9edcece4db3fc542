/** Who wrote a version: what stood in SOUL.md at first, the agent, or a person. */
export type SoulAuthor = 'seed' | 'agent' | 'person';

/**
 * `proposed`: not judged yet; `refused` or `passed` by the evaluation; `applied`: in use, one at a time;
 * `replaced`: another is in use in its place, or came before it could be.
 */
export type SoulState = 'proposed' | 'refused' | 'passed' | 'applied' | 'vetoed' | 'replaced';

/** What the evaluation has to say of a text, in words for people. */
export interface SoulFinding {
  readonly rule: string;
  /** What it takes off the score. */
  readonly points: number;
  /** Whatever the score: a text with such a finding does not pass. */
  readonly blocks: boolean;
  readonly words: string;
}

/** One version of an agent’s SOUL.md, or a proposal for one (W06). Times in ms. */
export interface SoulVersion {
  readonly agent: string;
  /** 0 is the seed. */
  readonly number: number;
  /** Without front matter. */
  readonly text: string;
  /** The front matter that the file had, with the lines that open and close it; empty: none. */
  readonly head: string;
  readonly author: SoulAuthor;
  /** `telegram:42`, or what else is known of who it was. */
  readonly by: string | null;
  readonly reason: string;
  /** The version that it was written against; null of the seed. */
  readonly basedOn: number | null;
  /** Line by line against that version. */
  readonly diff: string;
  /** From 0 to 100; null until it was judged. */
  readonly score: number | null;
  readonly findings: readonly SoulFinding[];
  readonly state: SoulState;
  readonly createdAt: number;
  readonly judgedAt: number | null;
  /** When it comes into use by itself; null: when somebody says so. */
  readonly appliesAt: number | null;
  /** Null: it has never been in use. */
  readonly appliedAt: number | null;
  /** Who applied or vetoed it; null where time did. */
  readonly decidedBy: string | null;
}

/** A text that somebody would like to be SOUL.md. */
export interface NewSoul
  extends Pick<SoulVersion, 'text' | 'head' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  /** The call, command or edit that proposes it: the same again finds the version that it made. */
  readonly askedBy: string;
  readonly author: 'agent' | 'person';
}

/** What came of a proposal. `full`: too many of the agent’s own are open. */
export type SoulProposal =
  | { readonly kind: 'proposed' | 'known'; readonly version: SoulVersion }
  | { readonly kind: 'full' };

/** What the evaluation came to. */
export interface SoulVerdict extends Pick<SoulVersion, 'findings' | 'appliesAt'> {
  readonly state: 'passed' | 'refused';
  readonly score: number;
}

/** What a look every few seconds reads. */
export interface SoulGlance {
  /** Number of the version in use; null before the seed. */
  readonly inUse: number | null;
  readonly isBusy: boolean;
}

/** Going back to an earlier version: its text becomes a new one. */
export interface SoulRollback
  extends Pick<NewSoul, 'askedBy' | 'by' | 'reason' | 'basedOn' | 'diff'> {
  readonly to: number;
}

/**
 * The versions of SOUL.md (W06): the truth, of which the file is a copy. Every change compares the state
 * that it begins from and sets the next one in one transaction, so of two at once one happens.
 */
export interface SoulRepository {
  /** The one in use; null before the seed. */
  applied(agent: string): Promise<SoulVersion | null>;
  get(agent: string, number: number): Promise<SoulVersion | null>;
  /** The newest first. */
  list(agent: string, limit: number): Promise<readonly SoulVersion[]>;
  /** Whether this text was in use at some time. */
  wasApplied(agent: string, text: string): Promise<boolean>;
  /** Makes version 0 of it; false when there is a version already. */
  seed(
    agent: string,
    soul: Pick<SoulVersion, 'text' | 'head' | 'by'>,
    now: number,
  ): Promise<boolean>;
  /** `most`: of the agent’s proposals that are open at a time; a person’s oldest makes room. */
  propose(agent: string, soul: NewSoul, most: number, now: number): Promise<SoulProposal>;
  /** What waits for the evaluation, oldest first. */
  unjudged(agent: string): Promise<readonly SoulVersion[]>;
  /** proposed → passed or refused; false when it was judged or vetoed meanwhile. */
  judge(agent: string, number: number, verdict: SoulVerdict, now: number): Promise<boolean>;
  /** Passed ones whose time has come, oldest first. */
  due(agent: string, now: number): Promise<readonly SoulVersion[]>;
  /**
   * passed → applied, and what was in use → replaced. False when it did not pass, or when `inUse` is not
   * in use any more. `by` null: its time has come.
   */
  apply(
    agent: string,
    number: number,
    by: string | null,
    inUse: number,
    now: number,
  ): Promise<boolean>;
  /** proposed or passed → vetoed (by somebody) or replaced (by another version). */
  close(
    agent: string,
    number: number,
    state: 'vetoed' | 'replaced',
    by: string | null,
    now: number,
  ): Promise<boolean>;
  /** A new version with the text of one that was in use; null when `basedOn` is not in use any more. */
  rollback(agent: string, order: SoulRollback, now: number): Promise<SoulVersion | null>;
  /** The front matter of the file has changed; the text is the same. */
  keepHead(agent: string, number: number, head: string): Promise<void>;
  /** In one look: which version is in use, and whether any waits for an evaluation, its time or its notice. */
  glance(agent: string, now: number): Promise<SoulGlance>;
  /** Versions whose state the owner has not been told yet, oldest first. */
  untold(agent: string): Promise<readonly SoulVersion[]>;
  /** The owner knows; unless its state has changed meanwhile. */
  told(agent: string, number: number, state: SoulState): Promise<void>;
}

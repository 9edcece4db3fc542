import type { BusyPolicy } from '@parley/core';

/** The settings by which ingress decides about the messages of one account. */
export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  /** The people besides owners who may decide approvals. */
  readonly approvers?: readonly string[];
  readonly limits: IngressLimits;
  /** For messages that arrive during a turn; `collect` when absent. */
  readonly busy?: BusyPolicy;
  /** Absent: there is one agent. The owners above are those of the default one (F14). */
  readonly agents?: AgentRules | undefined;
}

/** The people who may write to an account, and the times at which the bot answers in groups (F05, F06). */
export interface AccountPolicy {
  readonly access: {
    readonly direct: DirectMode;
    /** Eight characters, an hour and three people when absent. */
    readonly pairing?: PairingRules | undefined;
    readonly groups: GroupMode;
    /** User ids (as the platform writes them) that may write in direct chats. */
    readonly allow: readonly string[];
    /** Chat ids of groups that are served. */
    readonly allowGroups: readonly string[];
    /** If any are named, members with none of these roles may not write in groups. */
    readonly allowRoles?: readonly string[];
    readonly groupCommands: GroupCommands;
  };
  readonly activation: 'mention' | 'always' | 'never';
  readonly answers: AnswerStyle;
}

/**
 * `open`: everyone; `allowlist`: listed people; `pairing`: also people whom an owner allowed; `disabled`: no one;
 * `token`: the adapter has asked for a token (no setting has this).
 */
export type DirectMode = 'pairing' | 'allowlist' | 'open' | 'disabled' | 'token';

/** `open`: all groups; `allowlist`: listed groups; `disabled`: none. */
export type GroupMode = 'allowlist' | 'open' | 'disabled';

/**
 * The people who may use commands that change a group's conversation for everyone in it (`/new`, `/mode`, `/compact`,
 * and `/stop` of other people's turns). Each step includes those before it.
 */
export type GroupCommands = 'owners' | 'approvers' | 'administrators' | 'everyone';

/** The codes of strangers: how long one is, how long it is valid, and how many people may wait at a time. */
export interface PairingRules {
  readonly characters: number;
  readonly minutes: number;
  readonly pending: number;
}

/** The style of an account's answers, beyond what its platform dictates. */
export interface AnswerStyle {
  /** `live`: what looks like a mention may ping people (M05). */
  readonly mentions: 'dead' | 'live';
  /** Shortest time between two edits of a growing answer; as the platform takes them when absent. */
  readonly editSeconds?: number | undefined;
  /** Several parts of an answer say which they are. */
  readonly numbered: boolean;
  /** An emoji on a message while it is answered; absent: none. */
  readonly acknowledge?: string | undefined;
}

/** Limits of incoming messages (D07). */
export interface IngressLimits {
  /** Longest message, in characters (UTF-16 units). */
  readonly messageCharacters: number;
  /** Messages of one conversation that may wait for a turn. */
  readonly waitingPerConversation: number;
  /** The same, in all conversations of all accounts. */
  readonly totalWaiting: number;
  /** Messages that do not address the bot and are kept for the group's next turn; 50 when absent. */
  readonly groupContextMessages?: number | undefined;
}

/** The rules for several agents; absent where there is one. */
export interface AgentRules {
  /** The id of the default agent. */
  readonly id: string;
  readonly routes: readonly AgentRoute[];
  /** To whom each belongs; undefined: the default one. */
  readonly rights: ReadonlyMap<string | undefined, Pick<DecisionRules, 'owners' | 'approvers'>>;
}

/** A rule of `routes:`: whose messages go to which agent. All that it names must be so; with nothing it changes the default. */
export interface AgentRoute {
  /** Undefined: the default agent. */
  readonly agent: string | undefined;
  /** `telegram:42` */
  readonly person?: string | undefined;
  /** `telegram:-100123` */
  readonly chat?: string | undefined;
  /** `telegram/helpdesk` */
  readonly account?: string | undefined;
  /** `telegram` */
  readonly channel?: string | undefined;
}

import type { BusyPolicy } from '@parley/core';

/** The settings that ingress needs to decide about the messages of one account. */
export interface DecisionRules {
  readonly policy: AccountPolicy;
  readonly owners: readonly string[];
  /** The people other than owners who may decide approvals. */
  readonly approvers?: readonly string[];
  readonly limits: IngressLimits;
  /** How to handle messages that arrive during a turn; `collect` when absent. */
  readonly busy?: BusyPolicy;
  /** Absent when there is only one agent. The owners above are those of the default agent (F14). */
  readonly agents?: AgentRules | undefined;
}

/** Who may write to an account, and when the bot answers in groups (F05, F06). */
export interface AccountPolicy {
  readonly access: {
    readonly direct: DirectMode;
    /** Eight characters, one hour and three people when absent. */
    readonly pairing?: PairingRules | undefined;
    readonly groups: GroupMode;
    /** User ids (as the platform writes them) that may write in direct chats. */
    readonly allow: readonly string[];
    /** Chat ids of the groups that are served. */
    readonly allowGroups: readonly string[];
    /** If any roles are named, members without one of them may not write in groups. */
    readonly allowRoles?: readonly string[];
    readonly groupCommands: GroupCommands;
  };
  readonly activation: 'mention' | 'always' | 'never';
  readonly answers: AnswerStyle;
}

/**
 * `open`: everyone; `allowlist`: listed people; `pairing`: also people whom an owner has admitted;
 * `disabled`: no one; `token`: the adapter has checked a token (settings cannot use this value).
 */
export type DirectMode = 'pairing' | 'allowlist' | 'open' | 'disabled' | 'token';

/** `open`: all groups; `allowlist`: listed groups; `disabled`: none. */
export type GroupMode = 'allowlist' | 'open' | 'disabled';

/**
 * Who may use commands that change a group's conversation for everyone in it (`/new`, `/mode`,
 * `/compact`, `/rewind`, and `/stop` for other people's turns). Each value includes the ones before
 * it.
 */
export type GroupCommands = 'owners' | 'approvers' | 'administrators' | 'everyone';

/** Pairing codes: their length, their lifetime, and how many people may wait at a time. */
export interface PairingRules {
  readonly characters: number;
  readonly minutes: number;
  readonly pending: number;
}

/** The style of an account's answers, where the platform offers a choice. */
export interface AnswerStyle {
  /** `live`: text that looks like a mention may notify people (M05). */
  readonly mentions: 'dead' | 'live';
  /**
   * The minimum interval between two edits of a growing answer; the platform's own limit when
   * absent.
   */
  readonly editSeconds?: number | undefined;
  /** Whether multiple parts of an answer are numbered. */
  readonly numbered: boolean;
  /** The emoji that marks a message while it is being answered; none when absent. */
  readonly acknowledge?: string | undefined;
}

/** Limits of incoming messages (D07). */
export interface IngressLimits {
  /** The maximum length of a message, in UTF-16 units. */
  readonly messageCharacters: number;
  /** How many messages of one conversation may wait for a turn. */
  readonly waitingPerConversation: number;
  /** How many messages may wait in all conversations and accounts together. */
  readonly totalWaiting: number;
  /**
   * How many messages that do not address the bot are kept for the group's next turn; 50 when
   * absent.
   */
  readonly groupContextMessages?: number | undefined;
}

/** The rules for several agents; absent when there is only one agent. */
export interface AgentRules {
  /** The id of the default agent. */
  readonly id: string;
  readonly routes: readonly AgentRoute[];
  /** The owners and approvers of each agent; undefined stands for the default agent. */
  readonly rights: ReadonlyMap<string | undefined, Pick<DecisionRules, 'owners' | 'approvers'>>;
}

/**
 * A rule of `routes:`, which decides whose messages go to which agent. All conditions of a rule
 * must match; a rule without conditions changes the default agent.
 */
export interface AgentRoute {
  /** The default agent when undefined. */
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

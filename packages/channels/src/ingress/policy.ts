import type { GroupCommands } from './group-commands.ts';

/** Who may talk to an account and when the bot answers in groups (F05, F06); from the settings. */
export interface AccountPolicy {
  readonly access: {
    readonly direct: DirectMode;
    readonly groups: GroupMode;
    /** User ids (as the platform writes them) that may write in direct chats. */
    readonly allow: readonly string[];
    /** Chat ids of groups that are served. */
    readonly allowGroups: readonly string[];
    readonly groupCommands: GroupCommands;
  };
  readonly activation: 'mention' | 'always' | 'never';
  readonly answers: AnswerStyle;
}

/** How answers of an account are printed, beyond what its platform dictates. */
export interface AnswerStyle {
  /** `live`: what looks like a mention may ping people (M05). */
  readonly mentions: 'dead' | 'live';
  /** Several parts of an answer say which they are. */
  readonly numbered: boolean;
}

/** `open`: everybody; `allowlist`: those named; `pairing`: also those an owner let in; `disabled`: nobody. */
export type DirectMode = 'pairing' | 'allowlist' | 'open' | 'disabled';

/** `open`: all groups; `allowlist`: those named; `disabled`: none. */
export type GroupMode = 'allowlist' | 'open' | 'disabled';

/** Bounds of what is taken in (D07). */
export interface IngressLimits {
  /** Longest message, in characters (UTF-16 units). */
  readonly messageCharacters: number;
  /** Messages of one conversation that may wait for a turn. */
  readonly waitingPerConversation: number;
  /** The same of all conversations together, whatever the account. */
  readonly waitingInAll: number;
}

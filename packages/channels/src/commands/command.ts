import type { Reader } from '@parley/core';
import type { AdmittedMessage, CommandTransaction, NewPart, Store } from '@parley/store';
import type { DecisionRules } from '../ingress/rules.ts';
import type { CommandInfo } from '../menu.ts';

/** A chat command (F09): one file of this folder, and its place in `list.ts`. */
export type ChatCommand<Prepared = unknown> = ReadyCommand<Prepared> | TurnCommand;

/** A command that is answered at once, without lane or model. */
export interface ReadyCommand<Prepared = unknown> extends CommandSpec {
  /** Before the transaction: whatever is slow or outside the tables of the chat, such as files, models and services. */
  prepare?(context: CommandContext, sources: CommandSources): Promise<Prepared>;
  /**
   * In the transaction that stores the command, and only if the asker may use it. Awaits nothing but `transaction`;
   * what is to happen outside the database is returned.
   */
  run(
    context: CommandContext,
    transaction: CommandTransaction,
    prepared: Prepared,
  ): Promise<CommandAnswer>;
}

/** A command that waits for the turn before it and runs as a turn: it asks the model. */
export interface TurnCommand extends CommandSpec {
  readonly inTurn: true;
}

/** The name of a command, the people who may use it and the words it reads. */
interface CommandSpec extends Omit<CommandInfo, 'isSkill'> {
  /** Names besides its own that it answers to. */
  readonly aliases?: readonly string[];
  /** `approver`: owners, and the approvers of the settings. */
  readonly who: 'everyone' | 'owner' | 'approver';
  /** `direct`: it deals in codes, which are private. Anywhere when absent. */
  readonly where?: 'direct';
  /** The handling of the words after its name, so that no command loses any. */
  readonly rest: CommandRest;
  /** Menus and help leave it out: buttons send it. */
  readonly unlisted?: true;
  /**
   * Its dependence on the right to change a group's conversation (`GroupCommands`): `needed`; `needed-for-words`,
   * alone it only shows; `limits`, without the right it does less.
   */
  readonly groupRight?: 'needed' | 'needed-for-words' | 'limits';
  /** The part of its message that is stored; all of it when absent. */
  storedAs?(message: AdmittedMessage['message']): AdmittedMessage['message'];
}

/**
 * The handling of the words after a command's name, and of files beside it. `message`: they are a message, answered
 * after it. `argument`, `text`: it reads all of them, the former without a full stop at the end. `code`: it reads the
 * code at their beginning, and the others are a message. `none`: it does nothing with them and says so; `/stop` must
 * never start what it was to end. A list: it reads the first where that is in the list or alone.
 */
export type CommandRest = 'message' | 'argument' | 'text' | 'code' | 'none' | readonly string[];

/** A command as it was typed; `splitCommand` says which of its words it reads. */
export interface TypedCommand {
  readonly command: ChatCommand;
  /** The text after the name, trimmed. */
  readonly argument: string;
  /**
   * It was not typed: words that might decide an approval show what waits. `kept`: they are a message as well; `only`: a
   * bare yes or no.
   */
  readonly spoken?: 'kept' | 'only';
}

/** The words of a command, by how it treats them. */
export interface CommandWords {
  /** The words that the command itself reads. */
  readonly argument: string;
  /** Words that are answered as a message after it; empty where there are none. */
  readonly onward: string;
  /** Words that it does nothing with, which it says. */
  readonly unused: string;
}

/** A command with its words, its asker and what it may know. */
export interface CommandContext
  extends Pick<AdmittedMessage, 'message' | 'conversationId' | 'route' | 'receivedAt'>,
    Pick<CommandWords, 'argument' | 'onward'>,
    Pick<TypedCommand, 'spoken'> {
  /** Undefined: the default agent. */
  readonly agent: string | undefined;
  readonly asker: CommandAsker;
  /** `owner`: only the owner reads the answer. */
  readonly audience: 'owner' | 'others';
  readonly rules: DecisionRules;
  readonly situation: Situation;
  /** All commands, for `/help`. */
  readonly commands: readonly ChatCommand[];
}

/** The sender of a command: their rights and the kind of chat. */
export interface CommandAsker {
  readonly isOwner: boolean;
  readonly isDirect: boolean;
  readonly isApprover: boolean;
  /** They may change the conversation for everyone in it; true for commands that do not depend on it. */
  readonly mayChangeChat: boolean;
}

/** Facts about the running gateway that commands can show. */
export interface Situation {
  /** The agent's name for people. */
  readonly agentName: string;
  /** Which model answers and why, without a capital or a full stop: `offline – no model …`. */
  readonly model: string;
  /** Those that `/model` may choose besides. */
  readonly models: readonly string[];
}

/** The services that a command may ask before its transaction. */
export interface CommandSources {
  readonly store: Pick<Store, 'decisions' | 'why' | 'todos'>;
  /** The agent's services for commands. */
  readonly services: CommandServices;
  readonly skillCommands: SkillCommands | undefined;
  /** A new one-time code. */
  readonly newCode: () => string;
}

/** The user of a command that a service answers, and the chat. */
export interface ServiceAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Bounds what the answer may contain (W02); `owner`: alone with the agent. */
  readonly reader: Reader;
  readonly isGroup: boolean;
  /** Unique among the messages of all chats. */
  readonly messageId: string;
}

/**
 * Answers one command about something outside the chat, in Markdown. Whether the asker may use it is
 * decided before. A second call for the same message changes nothing.
 */
export type CommandService = (asker: ServiceAsker, argument: string) => Promise<string>;

/** Services that answer the command of their name; without its service a command says that it is not available. */
export interface CommandServices
  extends Readonly<
    Partial<Record<'memory' | 'forget' | 'soul' | 'heartbeat' | 'zone', CommandService | undefined>>
  > {
  /** An extra line of `/status` for the owner. */
  readonly statusLine?: () => Promise<string>;
}

/**
 * The commands of skills that a reader may use now (S08). Ingress does not carry them out: such a
 * message starts a turn, and the turn decides whether its reader may see the skill.
 */
export type SkillCommands = (
  audience: 'owner' | 'others',
  agent?: string,
) => Promise<readonly CommandInfo[]>;

/** The answer of a command, and its effects once the answer is stored. */
export interface CommandAnswer {
  /** In Markdown. */
  readonly answer: string;
  /** Messages to other chats. */
  readonly notify?: readonly NewPart[];
  /** Conversations that have work now. */
  readonly wake?: readonly string[];
  /** Conversations whose running turn is ended. */
  readonly stop?: readonly string[];
  /** The question is decided: buttons below the question do nothing any more. */
  readonly settled?: true;
  /** Why it did nothing, for the sender. */
  readonly declined?: string;
}

/** Checks the types of a command, and derives what `run` gets from what `prepare` finds. */
export function chatCommand<Prepared>(command: ReadyCommand<Prepared>): ReadyCommand<Prepared> {
  return command;
}

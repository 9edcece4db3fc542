import type { Reader } from '@parley/core';
import type { AdmittedMessage, CommandTransaction, NewPart, Store } from '@parley/store';
import type { DecisionRules } from '../ingress/rules.ts';
import type { CommandInfo } from '../menu.ts';

/** A chat command (F09): one file in this folder and an entry in `list.ts`. */
export type ChatCommand<Prepared = unknown> = ReadyCommand<Prepared> | TurnCommand;

/** A command that is answered at once, without lane or model. */
export interface ReadyCommand<Prepared = unknown> extends CommandSpec {
  /**
   * Runs before the transaction: whatever is slow or outside the chat's tables, such as files,
   * models and services.
   */
  prepare?(context: CommandContext, sources: CommandSources): Promise<Prepared>;
  /**
   * Runs in the transaction that stores the command, and only if the asker may use it. Awaits
   * nothing but `transaction`; effects outside the database are returned.
   */
  run(
    context: CommandContext,
    transaction: CommandTransaction,
    prepared: Prepared,
  ): Promise<CommandAnswer>;
}

/** A command that waits for the turn before it and runs as a turn, because it asks the model. */
export interface TurnCommand extends CommandSpec {
  readonly inTurn: true;
}

/** A command's name, who may use it, and how it reads its words. */
interface CommandSpec extends Omit<CommandInfo, 'isSkill'> {
  /** Further names that it answers to. */
  readonly aliases?: readonly string[];
  /** `approver`: owners, and the approvers of the settings. */
  readonly who: 'everyone' | 'owner' | 'approver';
  /** `direct` for commands that handle private codes; anywhere when absent. */
  readonly where?: 'direct';
  /** How the words after its name are handled, so that no command loses any. */
  readonly rest: CommandRest;
  /** Omitted from menus and help, because buttons send it. */
  readonly unlisted?: true;
  /**
   * How it depends on the right to change a group's conversation (`GroupCommands`): `needed`;
   * `needed-for-words`, because without words it only shows; `limits`, because without the right it
   * does less.
   */
  readonly groupRight?: 'needed' | 'needed-for-words' | 'limits';
  /** The part of its message that is stored; all of it when absent. */
  storedAs?(message: AdmittedMessage['message']): AdmittedMessage['message'];
}

/**
 * How the words after a command's name, and files next to it, are handled. `message`: they are a
 * message, answered after it. `argument`, `text`: it reads all of them, the former without a final
 * full stop. `code`: it reads the code at their beginning, and the rest is a message. `none`: it
 * ignores them and says so; `/stop` must never start what it was meant to end. A list: it reads the
 * first word if that is in the list or stands alone.
 */
export type CommandRest = 'message' | 'argument' | 'text' | 'code' | 'none' | readonly string[];

/** A command as it was typed; `splitCommand` says which of its words it reads. */
export interface TypedCommand {
  readonly command: ChatCommand;
  /** The text after the name, trimmed. */
  readonly argument: string;
  /**
   * Set when it was not typed as a command: words that might decide an approval show what is
   * waiting. `kept`: they are a message as well; `only`: a bare yes or no.
   */
  readonly spoken?: 'kept' | 'only';
}

/** The words of a command, by how it treats them. */
export interface CommandWords {
  /** The words that the command itself reads. */
  readonly argument: string;
  /** Words that are answered as a message after it; empty when there are none. */
  readonly onward: string;
  /** Words that it ignores, which it says. */
  readonly unused: string;
}

/** A command with its words, its asker and the facts it may use. */
export interface CommandContext
  extends Pick<AdmittedMessage, 'message' | 'conversationId' | 'route' | 'receivedAt'>,
    Pick<CommandWords, 'argument' | 'onward'>,
    Pick<TypedCommand, 'spoken'> {
  /** The default agent when undefined. */
  readonly agent: string | undefined;
  readonly asker: CommandAsker;
  /** `owner` when only the owner reads the answer. */
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
  /**
   * Whether they may change the conversation for everyone in it; true for commands that do not
   * depend on this.
   */
  readonly mayChangeChat: boolean;
}

/** Facts about the running gateway that commands can show. */
export interface Situation {
  /** The agent's name for people. */
  readonly agentName: string;
  /** Which model answers and why, without a capital or a full stop: `offline – no model …`. */
  readonly model: string;
  /** Other models that `/model` may choose. */
  readonly models: readonly string[];
}

/** The services that a command may use before its transaction. */
export interface CommandSources {
  readonly store: Pick<Store, 'decisions' | 'why' | 'todos'>;
  /** The agent's services for commands. */
  readonly services: CommandServices;
  readonly skillCommands: SkillCommands | undefined;
  /** Creates a one-time code. */
  readonly newCode: () => string;
}

/** The user of a command that a service answers, and the chat. */
export interface ServiceAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Limits what the answer may contain (W02); `owner` means alone with the agent. */
  readonly reader: Reader;
  readonly isGroup: boolean;
  /** Unique among the messages of all chats. */
  readonly messageId: string;
}

/**
 * Answers a command about something outside the chat, in Markdown. Whether the asker may use it was
 * decided before. A second call for the same message changes nothing.
 */
export type CommandService = (asker: ServiceAsker, argument: string) => Promise<string>;

/**
 * Services that answer the command of the same name. A command whose service is missing says that
 * it is not available.
 */
export interface CommandServices
  extends Readonly<
    Partial<Record<'memory' | 'forget' | 'soul' | 'heartbeat' | 'zone', CommandService | undefined>>
  > {
  /** An additional line of `/status` for the owner. */
  readonly statusLine?: () => Promise<string>;
}

/**
 * The commands of skills that a reader may use now (S08). Ingress does not run them: such a message
 * starts a turn, and the turn decides whether its reader may see the skill.
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
  /** Conversations whose running turn is stopped. */
  readonly stop?: readonly string[];
  /** The question is decided, so its buttons do nothing from now on. */
  readonly settled?: true;
  /** Why it did nothing, for the sender. */
  readonly declined?: string;
}

/** Checks a command's types, and infers the input of `run` from the result of `prepare`. */
export function chatCommand<Prepared>(command: ReadyCommand<Prepared>): ReadyCommand<Prepared> {
  return command;
}

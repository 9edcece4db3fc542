import type { Reader } from '@parley/core';
import type { AdmittedMessage, CommandTransaction, NewPart, Store } from '@parley/store';
import type { DecisionRules } from '../ingress/rules.ts';
import type { CommandInfo } from '../menu.ts';

/** A chat command (F09): one file in this folder and an entry in `list.ts`. */
export type ChatCommand<Prepared = unknown> = ReadyCommand<Prepared> | TurnCommand;

/** A command that is answered immediately, without lane or model. */
export interface ReadyCommand<Prepared = unknown> extends CommandSpec {
  /**
   * Runs before the transaction: anything that is slow or outside the chat's tables, such as files,
   * models and services.
   */
  prepare?(context: CommandContext, sources: CommandSources): Promise<Prepared>;
  /**
   * Runs in the transaction that stores the command, and only if the asker may use the command.
   * Awaits nothing but `transaction`; effects outside the database are returned.
   */
  run(
    context: CommandContext,
    transaction: CommandTransaction,
    prepared: Prepared,
  ): Promise<CommandAnswer>;
}

/**
 * A command that waits for the previous turn and runs as a turn itself, because it asks the model.
 */
export interface TurnCommand extends CommandSpec {
  readonly inTurn: true;
}

/** A command's name, who may use it, and how it parses its arguments. */
interface CommandSpec extends Omit<CommandInfo, 'isSkill'> {
  /** Alternative names of the command. */
  readonly aliases?: readonly string[];
  /** `approver`: owners, and the approvers named in the settings. */
  readonly who: 'everyone' | 'owner' | 'approver';
  /** `direct` for commands that handle private codes; when absent, it may be used anywhere. */
  readonly where?: 'direct';
  /** How the text after its name is handled, so that no command loses any of it. */
  readonly rest: CommandRest;
  /** Omitted from menus and help, because only buttons send it. */
  readonly unlisted?: true;
  /**
   * How it depends on the right to change a group's conversation (`GroupCommands`): `needed`;
   * `needed-for-words`, because without arguments it only shows something; `limits`, because
   * without the right it does less.
   */
  readonly groupRight?: 'needed' | 'needed-for-words' | 'limits';
  /** The part of the message that is stored; the whole message when absent. */
  storedAs?(message: AdmittedMessage['message']): AdmittedMessage['message'];
}

/**
 * How the text after a command's name, and attached files, are handled. `message`: it is a message,
 * answered after the command. `argument`, `text`: the command reads all of it, in the first case
 * without a final full stop. `code`: the command reads the code at its beginning, and the rest is a
 * message. `none`: the command ignores it and says so, because `/stop` must never start what it was
 * meant to end. A list: the command reads the first word if it is in the list or stands alone.
 */
export type CommandRest = 'message' | 'argument' | 'text' | 'code' | 'none' | readonly string[];

/** A command as it was typed; `splitCommand` determines which part of its text it reads. */
export interface TypedCommand {
  readonly command: ChatCommand;
  /** The text after the name, trimmed. */
  readonly argument: string;
  /**
   * Set when it was not typed as a command: a text that might decide an approval lists what is
   * pending. `kept`: the text is a message as well; `only`: it is a bare yes or no.
   */
  readonly spoken?: 'kept' | 'only';
}

/** The text after a command's name, split by what the command does with it. */
export interface CommandWords {
  /** The part that the command itself reads. */
  readonly argument: string;
  /** The part that is answered as a message afterwards; empty if there is none. */
  readonly onward: string;
  /** The part that it ignores, which its answer mentions. */
  readonly unused: string;
}

/** A command with its arguments, its asker and the facts it may use. */
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
  readonly situation: GatewaySituation;
  /** All commands, for `/help`. */
  readonly commands: readonly ChatCommand[];
}

/** The sender of a command: their rights and the kind of chat. */
export interface CommandAsker {
  readonly isOwner: boolean;
  readonly isDirect: boolean;
  readonly isApprover: boolean;
  /**
   * Whether they may change the conversation for everyone in it; true for commands that do not need
   * this right.
   */
  readonly mayChangeChat: boolean;
}

/** Facts about the running gateway that commands can show. */
export interface GatewaySituation {
  /** The agent's display name. */
  readonly agentName: string;
  /** Which model answers and why, as part of a sentence: `offline – no model …`. */
  readonly model: string;
  /** Other models that `/model` may choose. */
  readonly models: readonly string[];
}

/** The services that a command may use before its transaction. */
export interface CommandSources {
  readonly store: Pick<Store, 'decisions' | 'why' | 'todos'>;
  /** The services that the agent provides for commands. */
  readonly services: CommandServices;
  readonly skillCommands: SkillCommands | undefined;
  /** Creates a one-time code. */
  readonly newCode: () => string;
}

/** Who uses a command that a service answers, and in which chat. */
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
 * already decided. A second call for the same message changes nothing.
 */
export type CommandService = (asker: ServiceAsker, argument: string) => Promise<string>;

/**
 * Services, each answering the command of the same name. A command whose service is missing answers
 * that it is not available.
 */
export interface CommandServices
  extends Readonly<
    Partial<Record<'memory' | 'forget' | 'soul' | 'heartbeat' | 'zone', CommandService | undefined>>
  > {
  /** An additional line of `/status` for the owner. */
  readonly statusLine?: () => Promise<string>;
}

/**
 * The skill commands that a reader may use now (S08). Ingress does not run them: such a message
 * starts a turn, which decides whether its reader may see the skill.
 */
export type SkillCommands = (
  audience: 'owner' | 'others',
  agent?: string,
) => Promise<readonly CommandInfo[]>;

/** The answer of a command, and the effects to perform once the answer is stored. */
export interface CommandAnswer {
  /** In Markdown. */
  readonly answer: string;
  /** Messages to other chats. */
  readonly notify?: readonly NewPart[];
  /** Conversations that have work now. */
  readonly wake?: readonly string[];
  /** Conversations whose running turn is stopped. */
  readonly stop?: readonly string[];
  /** The question is decided, so its buttons no longer do anything. */
  readonly settled?: true;
  /** Why it did nothing, as a text for the sender. */
  readonly declined?: string;
}

/** Type-checks a command, inferring the input of `run` from the result of `prepare`. */
export function chatCommand<Prepared>(command: ReadyCommand<Prepared>): ReadyCommand<Prepared> {
  return command;
}

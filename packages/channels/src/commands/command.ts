import type { Button, Reader } from '@parley/core';
import type {
  AdmittedMessage,
  CommandTransaction,
  NewPart,
  RewindPoint,
  Store,
} from '@parley/store';
import type { DecisionRules } from '../ingress/rules.ts';
import type { CommandInfo } from '../menu.ts';

/** A chat command (F09) is one file in this folder and an entry in `list.ts`. */
export type ChatCommand<Prepared = unknown> = ImmediateCommand<Prepared> | TurnCommand;

/** A command that is answered immediately, without acquiring the lane or calling the model. */
export interface ImmediateCommand<Prepared = unknown> extends CommandSpec {
  /**
   * Runs before the transaction, for slow work and work outside the chat's tables, such as files,
   * models and services.
   */
  prepare?(context: CommandContext, sources: CommandSources): Promise<Prepared>;
  /**
   * Runs in the transaction that stores the command, and only if the sender may use the command.
   * Awaits only `transaction`; effects outside the database are returned.
   */
  run(
    context: CommandContext,
    transaction: CommandTransaction,
    prepared: Prepared,
  ): Promise<CommandAnswer>;
}

/**
 * A command that waits for the previous turn and runs as a turn itself, because it calls the model.
 */
export interface TurnCommand extends CommandSpec {
  readonly inTurn: true;
}

/** A command's name, permissions and argument parsing. */
interface CommandSpec extends Omit<CommandInfo, 'isSkill'> {
  readonly aliases?: readonly string[];
  /** `approver`: owners, and the approvers named in the settings. */
  readonly who: 'everyone' | 'owner' | 'approver';
  /**
   * `direct` for commands that handle private codes; when absent, the command may be used anywhere.
   */
  readonly where?: 'direct';
  /** How the text after the command's name is handled, so that no text is lost. */
  readonly rest: RestHandling;
  /** Hidden from menus and help, because only buttons send the command. */
  readonly unlisted?: true;
  /**
   * How the command depends on the right to change a group's conversation (`GroupCommands`):
   * `needed`; `needed-for-words`, because without arguments it only shows information; `limits`,
   * because without the right it has a smaller effect.
   */
  readonly groupRight?: 'needed' | 'needed-for-words' | 'limits';
  /** The part of the message that is stored; the whole message when absent. */
  storedAs?(message: AdmittedMessage['message']): AdmittedMessage['message'];
}

/**
 * How the text after a command's name, and attached files, are handled. `message`: the text is a
 * message, answered after the command. `argument`, `text`: the command reads all of the text; with
 * `argument`, a final full stop is removed. `code`: the command reads the code at the beginning of
 * the text, and the rest is a message. `none`: the command ignores the text and reports that,
 * because `/stop` must never start a new turn. A list of words: the command reads the first word
 * after its name if that word is in the list or is the only word.
 */
export type RestHandling = 'message' | 'argument' | 'text' | 'code' | 'none' | readonly string[];

/** A command as it was typed; `splitCommand` decides which part of its text the command reads. */
export interface TypedCommand {
  readonly command: ChatCommand;
  /** The text after the name, trimmed. */
  readonly argument: string;
  /**
   * Set when the text was not typed as a command: a text that might decide an approval lists the
   * pending ones. `kept`: the text also remains a message; `only`: the text is a bare yes or no.
   */
  readonly spoken?: 'kept' | 'only';
}

/** The text after a command's name, split by its use. */
export interface CommandTextParts {
  readonly argument: string;
  /** The part that is answered as a message afterwards; empty when no message is left. */
  readonly onward: string;
  /** The ignored part, which the command's answer mentions. */
  readonly unused: string;
}

/** A command with its arguments, its sender and the facts it may use. */
export interface CommandContext
  extends Pick<AdmittedMessage, 'message' | 'conversationId' | 'route' | 'receivedAt'>,
    Pick<CommandTextParts, 'argument' | 'onward'>,
    Pick<TypedCommand, 'spoken'> {
  /** The default agent when undefined. */
  readonly agent: string | undefined;
  readonly asker: CommandSender;
  /** `owner` when only the owner reads the answer. */
  readonly audience: 'owner' | 'others';
  readonly rules: DecisionRules;
  readonly situation: GatewayInfo;
  /** All commands, for `/help`. */
  readonly commands: readonly ChatCommand[];
}

/** The rights of a command's sender, and the kind of chat. */
export interface CommandSender {
  readonly isOwner: boolean;
  readonly isDirect: boolean;
  readonly isApprover: boolean;
  /**
   * Whether the sender may change the conversation for everyone in it; true for commands that do
   * not need this right.
   */
  readonly mayChangeChat: boolean;
}

/** Facts about the running gateway that commands can show. */
export interface GatewayInfo {
  readonly agentName: string;
  /**
   * The answering model and the reason for choosing it, as part of a sentence: `offline – no model
   * …`.
   */
  readonly model: string;
  /** The other models that `/model` can select. */
  readonly models: readonly string[];
}

/** The services that a command may use before its transaction. */
export interface CommandSources {
  readonly store: Pick<Store, 'decisions' | 'why' | 'todos'>;
  /** The services that the agent provides for commands. */
  readonly services: CommandServices;
  readonly skillCommands: SkillCommands | undefined;
  readonly newCode: () => string;
}

/** The sender of a command that a service answers, and the chat. */
export interface ServiceCommandSender {
  /** Parley's person id (`telegram:42`). */
  readonly person: string;
  /**
   * Limits what the answer may contain (W02); `owner` means that only the owner and the agent are
   * in the chat.
   */
  readonly reader: Reader;
  readonly isGroup: boolean;
  /** Unique among the messages of all chats. */
  readonly messageId: string;
}

/**
 * Answers a command about data outside the chat, in Markdown. The sender's permission has already
 * been checked. A second call for the same message does not change anything.
 */
export type CommandService = (asker: ServiceCommandSender, argument: string) => Promise<string>;

/**
 * Each service answers the command with the same name. A command whose service is missing answers
 * that it is not available.
 */
export interface CommandServices
  extends Readonly<
    Partial<Record<'memory' | 'forget' | 'soul' | 'heartbeat' | 'zone', CommandService | undefined>>
  > {
  /** An additional line of `/status` for the owner. */
  readonly statusLine?: () => Promise<string>;
  /** The memories that the sender may remove, with their messages, for `/rewind`. */
  readonly savedMemories?:
    | ((asker: ServiceCommandSender) => Promise<readonly MessageMemory[]>)
    | undefined;
  /** Answers `/branch`; null copies the whole session. */
  readonly branch?: (asker: ServiceCommandSender, point: RewindPoint | null) => Promise<string>;
}

/** A memory with the message that it was saved from; the ids are those of the platform. */
export interface MessageMemory {
  readonly id: string;
  readonly text: string;
  readonly channel: string;
  readonly chat: string;
  readonly message: string;
}

/**
 * The skill commands that the sender may use now (S08). Ingress does not run skill commands: such a
 * message starts a turn, which decides whether its reader may see the skill.
 */
export type SkillCommands = (
  audience: 'owner' | 'others',
  agent?: string,
) => Promise<readonly CommandInfo[]>;

/** A command's answer, and the effects to perform once the answer is stored. */
export interface CommandAnswer {
  readonly answer: string;
  /** Buttons below the answer, whose text says how to do without them. */
  readonly buttons?: readonly Button[];
  /** Messages to other chats. */
  readonly notify?: readonly NewPart[];
  /** Conversations to wake. */
  readonly wake?: readonly string[];
  /** Conversations whose running turn is stopped. */
  readonly stop?: readonly string[];
  /** The approval question is decided, so its buttons have no effect. */
  readonly settled?: true;
  /** The reason why the command had no effect, as shown to the sender. */
  readonly declined?: string;
}

/** Type-checks a command, inferring the input of `run` from the result of `prepare`. */
export function defineChatCommand<Prepared>(
  command: ImmediateCommand<Prepared>,
): ImmediateCommand<Prepared> {
  return command;
}

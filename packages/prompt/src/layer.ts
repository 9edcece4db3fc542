import {
  type InboundMessage,
  ParleyError,
  type PromptPart,
  type Reader,
  type RenderTarget,
  type RuntimeFacts,
} from '@parley/core';
import type { Cut, FilePattern, SkillSnapshot, WorkspaceView } from '@parley/workspace';

/** Kebab-case name of a layer, the same in layouts, reports and logs. */
export type LayerId = string;

/**
 * The volatility of a layer's text. `static`: the same in every chat until settings are edited or files. `session`:
 * the same throughout one chat. `turn`: may differ in every turn.
 */
export type Volatility = 'static' | 'session' | 'turn';

/** `system`: instructions. `user`: data, placed before the person's own text (P05, P18). */
export type Placement = 'system' | 'user';

/** The text of a layer in this turn. */
export interface LayerPart extends PromptPart {
  /** Set where the text is not the whole (P10). */
  readonly cut?: Cut | null;
}

/** A layer with nothing to say (P02). The reason is for people and holds nothing private. */
export interface Absent {
  readonly absent: string;
}

/** The options of a layout for one of its layers. A layer heeds what makes sense for it. */
export interface LayerOptions {
  /** The line above the text, with its marks (`## Tooling`), in place of the layer's own. */
  readonly heading?: string;
  /** Files of the workspace that the layer shows, in this order. */
  readonly files?: readonly string[];
  /** Longest text taken from one file, in characters. */
  readonly characters?: number;
  /** The purpose of its file, in place of the layer's own words; of several files, a line above them. */
  readonly purpose?: string;
  /** Says what people chose: their name, the title of the chat, turn variables; as data (P18). */
  readonly named?: boolean;
  /**
   * Shows parameters of tools, files of the sandbox, which files the message mentions, and the system and the
   * model that the agent runs on.
   */
  readonly detailed?: boolean;
  /** Longest text taken from all files of the layer together, in characters. */
  readonly charactersInAll?: number;
  /** False: without the rules of HEARTBEAT.md, which a layer of the whole file shows. */
  readonly rules?: boolean;
  /** False: without how to answer a heartbeat, which another layer of the layout says. */
  readonly protocol?: boolean;
  /** Says how to choose among the tools, or among the types and scopes of memories. */
  readonly guided?: boolean;
  /** The house's text before the file of the layer, also where there is no such file. */
  readonly lead?: string;
  /** False: facts without date and time. */
  readonly clock?: boolean;
  /** Why the layer is left out unless the settings ask for it. */
  readonly off?: string;
  /** Days whose notes the layer shows. */
  readonly days?: number;
}

/** One named layer of the prompt. Holds no state: what it says depends on the context alone. */
export interface Layer {
  readonly id: LayerId;
  readonly volatility: Volatility;
  readonly placement: Placement;
  /** The prompt modes it is in (P07); only `full` where it does not say. */
  readonly modes?: readonly PromptMode[];
  /**
   * The workspace files it reads, besides those that the layout names for it (`LayerOptions.files`). A
   * read of any other file gets nothing; what is declared is changed by an agent only with an approval.
   */
  readonly reads?: readonly FilePattern[];
  render(
    context: PromptContext,
    options: LayerOptions,
  ): LayerPart | Absent | Promise<LayerPart | Absent>;
}

/** The output of a layer: text, nothing, or an error. */
export type LayerOutput = LayerPart | Absent | { readonly failed: unknown };

/** The output of a layer in one turn. */
export interface Rendering {
  readonly layer: LayerId;
  readonly placement: Placement;
  /** May be different in the next turn. */
  readonly changes: boolean;
  readonly output: LayerOutput;
}

/** Says that a layer has nothing to say, and why. */
export function absent(reason: string): Absent {
  return { absent: reason };
}

/** A text that anyone may read. */
export function forEveryone(text: string, source = 'Parley'): LayerPart {
  return { text, source, audience: { kind: 'everyone' } };
}

/** A text of this chat: of its people, its message, what is connected to it. */
export function forChat({ conversationId }: Reader, text: string, source: string): LayerPart {
  return { text, source, audience: { kind: 'conversation', conversationId } };
}

/** A message of a group that did not address the agent; all of its text is untrusted. */
export interface GroupMessage {
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** A message that Parley sent to the chat by itself. */
export interface OwnMessage {
  readonly what: string;
  readonly text: string;
}

/**
 * The part of a layout that a turn gets (P07). `minimal`: for sub-agents, without memory, identity and messaging.
 * `light`: for heartbeat runs, which is `minimal` and the agent's voice (H10). `none`: the identity line and safety
 * alone.
 */
export type PromptMode = 'full' | 'light' | 'minimal' | 'none';

/** Whether what is declared for `modes` (`full` alone when absent) is in a prompt of this mode. */
export function isInMode(
  modes: readonly PromptMode[] = ['full'],
  mode: PromptMode = 'full',
): boolean {
  return modes.includes(mode) || (mode === 'light' && modes.includes('minimal'));
}

/**
 * Keeps a value for the rest of a session: the first caller decides, later ones get what was kept.
 * What must not change within a session (P05, P14, S07) asks here before it is said. The value must
 * survive JSON; `schema` checks what comes back.
 */
export type FixForSession = <Value>(
  key: string,
  value: Value,
  schema: { parse(kept: unknown): Value },
) => Promise<Value>;

/** The identity of the agent for the people it talks with. */
export interface Identity {
  readonly name: string;
  readonly role?: string;
  readonly emoji?: string;
}

/** The bounds of a turn (G01) as the agent knows them. */
export interface TurnLimitsNote {
  /** The number of times the model is asked. */
  readonly steps: number;
  readonly minutes: number;
}

/** Everything the layers of one turn may draw on. Files come through `view` and no other way. */
export interface PromptContext extends PromptFeatures {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  /** The workspace as `reader` sees it; a view for another reader is refused. */
  readonly view: WorkspaceView;
  readonly identity: Identity;
  /** `full` when absent. */
  readonly mode?: PromptMode;
  /** Leaves out the files that describe the agent and how it works (P04). */
  readonly skipContextFiles?: boolean;
  /** The messages this turn answers, oldest first. What is in them was written by chat users. */
  readonly messages: readonly InboundMessage[];
  /** The clock of the system prompt is rounded down to so many minutes, 1 to 60. */
  readonly clockMinutes: number;
  /** The limits of a turn that answers people. */
  readonly turnLimits?: TurnLimitsNote | undefined;
  /** Messages of others in the group since its last turn, oldest first. */
  readonly groupContext?: readonly GroupMessage[];
  /** Messages that Parley sent there by itself since then, oldest first. */
  readonly ownMessages?: readonly OwnMessage[];
  /** The target of the text in the chat; absent where the answer is not shown. */
  readonly target?: RenderTarget;
  /** The skills this session knows; fixed for the session (S07). */
  readonly skills?: SkillSnapshot;
  /** Without one nothing is fixed: a prompt that belongs to no session. */
  readonly fix?: FixForSession;
  /** The operator's home folder, written `~` in the prompt. */
  readonly home?: string;
  /** The operating system that the agent runs on, such as `Linux (x64)`. */
  readonly os?: string;
  /** The model that answers this turn, as `provider/model`. */
  readonly model?: string | undefined;
}

/** The facts of a turn for a source. */
export interface SourceTurn
  extends Pick<PromptContext, 'facts' | 'reader' | 'view' | 'messages' | 'fix'> {
  readonly conversationId: string;
  /** Counts up with each `/new`. */
  readonly session: number;
}

/**
 * Fills in what one feature has to say in a turn. Takes files from `turn.view` alone and passes on
 * their audience. A source that throws is left out and logged; the person still gets an answer.
 */
export interface ContextSource {
  /** Kebab-case, for logs. */
  readonly id: string;
  /** The workspace files it reads; any other file looks absent in `turn.view`. */
  readonly reads?: readonly FilePattern[];
  gather(turn: SourceTurn): Promise<PromptFeatures & Pick<PromptContext, 'skills'>>;
}

/** The five groups of tools in the prompt (P11). */
export type ToolTier = 'middleware' | 'filesystem' | 'external-mcp' | 'sandbox' | 'knowledge-base';

/** A tool as the prompt describes it; its schema reaches the model with the request. */
export interface ToolNote {
  readonly name: string;
  /** One sentence: what it does. */
  readonly summary: string;
  /** When to use it, and when not. */
  readonly hint?: string;
  readonly tier: ToolTier;
  /** JSON Schema of its parameters. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The mode of the conversation leaves it out; the note says what would bring it back (G04). */
  readonly placeholder?: boolean;
}

/** A connected or lost browser, desktop or MCP server (G03). Only connected ones are shown. */
export interface ConnectorNote {
  readonly name: string;
  readonly connected: boolean;
  /** The agent's use of it. */
  readonly text: string;
}

/** A prompt that an MCP server offers and a person can pick (G03). */
export interface McpPromptNote {
  readonly server: string;
  readonly name: string;
  readonly description: string;
}

/** Something the agent can read on demand: a file, a page, a table. */
export interface ResourceNote {
  readonly name: string;
  readonly location: string;
  readonly description: string;
}

/** The sandbox in which `exec` runs (G06). */
export interface SandboxNote {
  /** Such as `bubblewrap`. */
  readonly kind: string;
  /** The reach of a command, and its limits. */
  readonly text: string;
  /** Files that commands have left there, newest first; sizes in bytes. `totalFileCharacters`: more than are listed. */
  readonly files?: readonly { readonly name: string; readonly size: number }[];
  readonly totalFileCharacters?: number;
}

/** The attachments of the messages, without any name: those were chosen by chat users (P18). */
export interface AttachmentNote {
  /** Such as `image`, `voice`, `document`. */
  readonly kind: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/** The standing task of a heartbeat turn (H02). */
export interface HeartbeatNote {
  readonly task: string;
  readonly instruction: string;
  /** Ready to read, such as `every 30 min, 09:00–21:00, last run 14:05`. */
  readonly schedule: string;
  /** The text of HEARTBEAT.md outside of its tasks, for all of them. */
  readonly context?: string;
  /** In which its reader writes, such as `German`; absent where that is not known. */
  readonly language?: string | undefined;
}

/** One item of the session's list (G12). */
export interface TodoNote {
  readonly text: string;
  readonly state: 'open' | 'doing' | 'done';
}

/**
 * The content of Parley's features for a turn. Each is filled in by a `ContextSource`; a layer whose field is missing
 * or empty stays away (P02). Parts carry the audience of what they were made from.
 */
export interface PromptFeatures {
  /** The accounts of the owner, such as `telegram:42`. */
  readonly owners?: readonly string[];
  /** Tools this turn can call. Empty: it has none, and the prompt says so. */
  readonly tools?: readonly ToolNote[];
  /** The freedom of the agent in this conversation (G04); `agent` when absent. */
  readonly conversationMode?: 'agent' | 'ask' | 'plan';
  /** The skills that people called by a command in this turn's messages, ready to follow (S08). */
  readonly calledSkills?: readonly PromptPart[];
  /** The actions that need an approval first, and the people who give it (G05). */
  readonly approvals?: PromptPart;
  /** The persona of the session (P14). */
  readonly persona?: PromptPart;
  /** The form of answers, such as `emotion_pipe` (P14). */
  readonly outputFormat?: PromptPart;
  /** Set where a program reads the answer: the JSON Schema to answer with. */
  readonly responseSchema?: object;
  /** Short summaries made from saved memories (G14). */
  readonly userProfile?: PromptPart;
  readonly projectProfile?: PromptPart;
  /** Memories found for this turn, best first. */
  readonly memories?: readonly PromptPart[];
  /** Notes of `knowledge/` found for this turn, best first. */
  readonly knowledge?: readonly PromptPart[];
  /** Yesterday's talk, structured (G11). */
  readonly yesterday?: PromptPart;
  readonly connectors?: readonly ConnectorNote[];
  readonly mcpPrompts?: readonly McpPromptNote[];
  readonly resources?: readonly ResourceNote[];
  /** Files of the workspace that the messages name (`@notes/plan.md`) and this reader may see; `source` is the path. */
  readonly mentioned?: readonly LayerPart[];
  readonly sandbox?: SandboxNote;
  readonly attachments?: readonly AttachmentNote[];
  readonly heartbeat?: HeartbeatNote;
  readonly todos?: readonly TodoNote[];
  /** The whole message with which the agent says nothing, such as `NO_REPLY` (G09). */
  readonly silentToken?: string;
  /** The platform can quote a message and the agent may ask for it (G10). */
  readonly replyTags?: boolean;
  /** The gateway has just started, and this turn does what BOOT.md asks (W08). */
  readonly boot?: boolean;
  /** The workspace is new: BOOTSTRAP.md leads this conversation (W08). */
  readonly bootstrap?: boolean;
  /** Last layer, never in the history: from the settings, or a sub-agent's task (P13). */
  readonly ephemeral?: PromptPart;
}

/**
 * `layer-*` and `layout-*`: the layers or the layout do not fit together, found when the assembler is
 * made. `format-unreadable`: a note on a channel's format. `prompt-reader`: the view and the turn disagree about who reads, so no prompt is made at all.
 */
export type PromptErrorCode =
  | 'layer-duplicate'
  | 'layer-unknown'
  | 'layer-reserved'
  | 'layout-unknown'
  | 'layout-duplicate'
  | 'format-unreadable'
  | 'prompt-reader';

/** Every error of this package; all of them are mistakes of settings or code, none goes away by itself. */
export class PromptError extends ParleyError {
  constructor(code: PromptErrorCode, message: string) {
    super({ code, message, retryable: false });
  }
}

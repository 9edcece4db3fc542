import {
  type InboundMessage,
  ParleyError,
  type PromptPart,
  type Reader,
  type RenderTarget,
  type RuntimeFacts,
} from '@parley/core';
import type { FilePattern, SkillSnapshot, TextTruncation, WorkspaceView } from '@parley/workspace';

/** The kebab-case name of a layer, the same in layouts, reports and logs. */
export type LayerId = string;

/**
 * How often the text of a layer changes. `static`: the same in every chat until settings or files
 * are edited. `session`: the same throughout one chat. `turn`: may differ in every turn.
 */
export type Volatility = 'static' | 'session' | 'turn';

/** `system`: instructions. `user`: data, placed before the person's own text (P05, P18). */
export type Placement = 'system' | 'user';

export interface LayerPart extends PromptPart {
  /** Set when the text is incomplete (P10). */
  readonly cut?: TextTruncation | null;
}

/**
 * A layer without any text (P02). The reason is shown to people and does not contain private text.
 */
export interface Absent {
  readonly absent: string;
}

/** A layout's options for one of its layers. A layer uses only the options that apply to it. */
export interface LayerOptions {
  /** Replaces the layer's default heading; includes the marks (`## Tooling`). */
  readonly heading?: string;
  /** The workspace files that the layer shows, in this order. */
  readonly files?: readonly string[];
  /** The maximum number of characters taken from one file. */
  readonly characters?: number;
  /**
   * The stated purpose of the layer's file; replaces the default. If there are several files, the
   * line above all of them.
   */
  readonly purpose?: string;
  /** Includes text chosen by people (their name, the chat title, turn variables), as data (P18). */
  readonly named?: boolean;
  /**
   * Shows tool parameters, the files in the sandbox, the files mentioned in the message, and the
   * agent's operating system and model.
   */
  readonly detailed?: boolean;
  /** The maximum number of characters taken from all files of the layer together. */
  readonly charactersInAll?: number;
  /** False omits the rules of HEARTBEAT.md, because another layer shows the whole file. */
  readonly rules?: boolean;
  /** False omits how to answer a heartbeat, because another layer of the layout explains it. */
  readonly protocol?: boolean;
  /** Lists the tools only by name, because the request's tool definitions describe them. */
  readonly brief?: boolean;
  /** Adds guidance on choosing among the tools, or among the types and scopes of memories. */
  readonly guided?: boolean;
  /** The layout's own text before the layer's file, shown even if that file does not exist. */
  readonly lead?: string;
  /** False omits date and time from the facts. */
  readonly clock?: boolean;
  /** The reason for omitting the layer unless the settings request it. */
  readonly off?: string;
  /** The number of days whose notes the layer shows. */
  readonly days?: number;
}

/** A layer has no state: its text depends only on the context. */
export interface Layer {
  readonly id: LayerId;
  readonly volatility: Volatility;
  readonly placement: Placement;
  /** The prompt modes that include the layer (P07); only `full` by default. */
  readonly modes?: readonly PromptMode[];
  /**
   * The workspace files that the layer reads, besides the files that the layout assigns to it
   * (`LayerOptions.files`). Any other file appears to be missing. An agent needs an approval to
   * change a declared file.
   */
  readonly reads?: readonly FilePattern[];
  render(
    context: PromptContext,
    options: LayerOptions,
  ): LayerPart | Absent | Promise<LayerPart | Absent>;
}

export type LayerOutput = LayerPart | Absent | { readonly failed: unknown };

export interface RenderedLayer {
  readonly layer: LayerId;
  readonly placement: Placement;
  /** Whether the output may differ in the next turn. */
  readonly changes: boolean;
  readonly output: LayerOutput;
}

/** Creates the output of a layer without any text, with the reason. */
export function createAbsent(reason: string): Absent {
  return { absent: reason };
}

/** Creates text that anyone may read. */
export function createPublicPart(text: string, source = 'Parley'): LayerPart {
  return { text, source, audience: { kind: 'everyone' } };
}

/**
 * Creates text with the audience of this chat: about its people, its message, or its connections.
 */
export function createChatPart(
  { conversationId }: Reader,
  text: string,
  source: string,
): LayerPart {
  return { text, source, audience: { kind: 'conversation', conversationId } };
}

/** A message in a group that was not addressed to the agent. The whole text is untrusted. */
export interface GroupMessage {
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** A message that Parley sent to the chat on its own initiative. */
export interface BotMessage {
  readonly what: string;
  readonly text: string;
}

/**
 * How much of a layout a turn gets (P07). `minimal` is for sub-agents, without memory, identity and
 * messaging. `light` is for heartbeat runs: `minimal` with the agent's voice (H10). `none` contains
 * only the identity line and safety.
 */
export type PromptMode = 'full' | 'light' | 'minimal' | 'none';

/**
 * Whether a layer or file declared for `modes` (only `full` by default) is included in a prompt
 * with this mode.
 */
export function isIncludedInMode(
  modes: readonly PromptMode[] = ['full'],
  mode: PromptMode = 'full',
): boolean {
  return modes.includes(mode) || (mode === 'light' && modes.includes('minimal'));
}

/**
 * Keeps a value for the rest of a session: the first caller's value is stored, and later callers
 * get the stored value. Use it for every value that must not change within a session (P05, P14,
 * S07). The value must survive JSON serialization; `schema` validates the stored value.
 */
export type PinForSession = <Value>(
  key: string,
  value: Value,
  schema: { parse(kept: unknown): Value },
) => Promise<Value>;

export interface Identity {
  readonly name: string;
  readonly role?: string;
  readonly emoji?: string;
}

/** The limits of a turn (G01), as told to the agent. */
export interface TurnLimitsNote {
  /** The maximum number of model calls. */
  readonly steps: number;
  readonly minutes: number;
}

/** The context available to the layers of one turn. Files can be read only through `view`. */
export interface PromptContext extends PromptFeatures {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  /** The workspace as `reader` sees it; a view for a different reader is refused. */
  readonly view: WorkspaceView;
  readonly identity: Identity;
  /** `full` by default. */
  readonly mode?: PromptMode;
  /** Omits the files that describe the agent and how it works (P04). */
  readonly skipContextFiles?: boolean;
  /**
   * The messages answered in this turn, oldest first. The content of these messages was written by
   * chat users.
   */
  readonly messages: readonly InboundMessage[];
  /** The clock of the system prompt is rounded down to this many minutes, 1 to 60. */
  readonly clockMinutes: number;
  /** The limits of a turn that answers people. */
  readonly turnLimits?: TurnLimitsNote | undefined;
  /** Messages from other people in the group since the agent's last turn, oldest first. */
  readonly groupContext?: readonly GroupMessage[];
  /** Messages that Parley sent to the chat on its own since then, oldest first. */
  readonly ownMessages?: readonly BotMessage[];
  /** Where the text is shown in the chat; absent if the answer is not shown. */
  readonly target?: RenderTarget;
  /** The skills available to this session; fixed for the session (S07). */
  readonly skills?: SkillSnapshot;
  /** When absent, no value is kept, because the prompt does not belong to a session. */
  readonly fix?: PinForSession;
  /** The operator's home folder, shown as `~` in the prompt. */
  readonly home?: string;
  /** The operating system of the agent, such as `Linux (x64)`. */
  readonly os?: string;
  /** The model that answers this turn, as `provider/model`. */
  readonly model?: string | undefined;
}

/** The facts about a turn that a context source may use. */
export interface SourceTurn
  extends Pick<PromptContext, 'facts' | 'reader' | 'view' | 'messages' | 'fix'> {
  readonly conversationId: string;
  /** Increases with each `/new`. */
  readonly session: number;
}

/**
 * A source reads files only from `turn.view` and passes on their audience. A source that throws is
 * omitted and logged; the person still gets an answer.
 */
export interface ContextSource {
  /** Kebab-case, for logs. */
  readonly id: string;
  /**
   * The workspace files that the source reads; any other file appears to be missing in `turn.view`.
   */
  readonly reads?: readonly FilePattern[];
  gather(turn: SourceTurn): Promise<PromptFeatures & Pick<PromptContext, 'skills'>>;
}

/** The five groups of tools in the prompt (P11). */
export type ToolTier = 'middleware' | 'filesystem' | 'external-mcp' | 'sandbox' | 'knowledge-base';

/** A tool as described in the prompt. The tool's schema is sent to the model with the request. */
export interface ToolNote {
  readonly name: string;
  /** The purpose of the tool, in one sentence. */
  readonly summary: string;
  readonly hint?: string;
  readonly tier: ToolTier;
  readonly input?: Readonly<Record<string, unknown>>;
  /**
   * Whether the conversation's mode excludes the tool. The note names the mode that would make the
   * tool available (G04).
   */
  readonly placeholder?: boolean;
}

/**
 * A browser, desktop or MCP server that is or was connected (G03). The prompt lists only what is
 * connected.
 */
export interface ConnectorNote {
  readonly name: string;
  readonly connected: boolean;
  readonly text: string;
}

/** A prompt offered by an MCP server that a person can select (G03). */
export interface McpPromptNote {
  readonly server: string;
  readonly name: string;
  readonly description: string;
}

/** A file, page or table that the agent can read on demand. */
export interface ResourceNote {
  readonly name: string;
  readonly location: string;
  readonly description: string;
}

/** The sandbox in which `exec` runs (G06). */
export interface SandboxNote {
  /** Such as `bubblewrap`. */
  readonly kind: string;
  /** The files and network that a command can reach, and its limits. */
  readonly text: string;
  /**
   * Files that commands left in the sandbox, newest first; sizes in bytes. `totalFileCharacters` is
   * set when there are more files than are listed.
   */
  readonly files?: readonly { readonly name: string; readonly size: number }[];
  readonly totalFileCharacters?: number;
}

/** An attachment to the messages, without its name, which chat users chose (P18). */
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
  /** Formatted for display, such as `every 30 min, 09:00–21:00, last run 14:05`. */
  readonly schedule: string;
  /** The text of HEARTBEAT.md outside its tasks, which applies to all of them. */
  readonly context?: string;
  /** The language of the task's reader, such as `German`; absent if unknown. */
  readonly language?: string | undefined;
}

/** One item of the session's to-do list (G12). */
export interface TodoNote {
  readonly text: string;
  readonly state: 'open' | 'doing' | 'done';
}

/**
 * Additions of Parley's features to a turn. Each field is provided by a `ContextSource`. A layer
 * whose field is missing or empty is omitted (P02). Parts carry the audience of their sources.
 */
export interface PromptFeatures {
  /** The owner's accounts, such as `telegram:42`. */
  readonly owners?: readonly string[];
  /** The tools that can be called in this turn; if empty, the prompt says that there are none. */
  readonly tools?: readonly ToolNote[];
  /** The conversation's mode (G04); `agent` by default. */
  readonly conversationMode?: 'agent' | 'ask' | 'plan';
  /** The skills that people invoked by command in this turn's messages, ready to follow (S08). */
  readonly calledSkills?: readonly PromptPart[];
  /** The actions that need an approval first, and the people who give it (G05). */
  readonly approvals?: PromptPart;
  /** The persona of the session (P14). */
  readonly persona?: PromptPart;
  /** The output format of answers, such as `emotion_pipe` (P14). */
  readonly outputFormat?: PromptPart;
  /** The JSON Schema for an answer that a program reads; absent otherwise. */
  readonly responseSchema?: object;
  /** Short summaries of saved memories (G14). */
  readonly userProfile?: PromptPart;
  readonly projectProfile?: PromptPart;
  /** Memories found for this turn, best first. */
  readonly memories?: readonly PromptPart[];
  /** Notes from `knowledge/` found for this turn, best first. */
  readonly knowledge?: readonly PromptPart[];
  /** Yesterday's conversation as a structured summary (G11). */
  readonly yesterday?: PromptPart;
  readonly connectors?: readonly ConnectorNote[];
  readonly mcpPrompts?: readonly McpPromptNote[];
  readonly resources?: readonly ResourceNote[];
  /**
   * Workspace files that the messages name (`@notes/plan.md`) and this reader may see; `source` is
   * the path.
   */
  readonly mentioned?: readonly LayerPart[];
  readonly sandbox?: SandboxNote;
  readonly attachments?: readonly AttachmentNote[];
  readonly heartbeat?: HeartbeatNote;
  readonly todos?: readonly TodoNote[];
  /**
   * The text with which the agent stays silent, such as `NO_REPLY` (G09); it must be the whole
   * answer.
   */
  readonly silentToken?: string;
  /** Whether the platform can quote a message and the agent may request a quotation (G10). */
  readonly replyTags?: boolean;
  /** Whether the gateway has just started and this turn carries out BOOT.md (W08). */
  readonly boot?: boolean;
  /** Whether the workspace is new and this conversation follows BOOTSTRAP.md (W08). */
  readonly bootstrap?: boolean;
  /** The last layer, never part of the history: from the settings, or a sub-agent's task (P13). */
  readonly ephemeral?: PromptPart;
}

/**
 * `layer-*` and `layout-*`: layers and layout contradict each other; thrown when the assembler is
 * created. `format-unreadable`: a channel format note cannot be read. `prompt-reader`: the view and
 * the turn disagree about the reader, so no prompt is built.
 */
export type PromptErrorCode =
  | 'layer-duplicate'
  | 'layer-unknown'
  | 'layer-reserved'
  | 'layout-unknown'
  | 'layout-duplicate'
  | 'format-unreadable'
  | 'prompt-reader';

/** An error caused by a mistake in settings or code, so retrying does not help. */
export class PromptError extends ParleyError {
  constructor(code: PromptErrorCode, message: string) {
    super({ code, message, retryable: false });
  }
}

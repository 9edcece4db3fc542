import {
  type Clock,
  type InboundMessage,
  type Logger,
  ParleyError,
  type Reader,
  type ReplyRoute,
  type RuntimeFacts,
  reasonOf,
} from '@parley/core';
import { type ModelTool, type ModelToolCall, parseToolArguments } from '@parley/models';
import { frameUntrusted, type ToolTier } from '@parley/prompt';
import { truncateText, type WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { runWithTimeLimit, TimeUpError } from '../time.ts';

/**
 * Thrown to leave the turn loop while the turn waits for a person's decision. This error does not
 * indicate a failure.
 */
export class TurnSuspendedError extends ParleyError {
  constructor(tool: string) {
    super({
      code: 'turn-suspended',
      message: `The turn waits for a person to decide about ${tool}; it continues after that.`,
      retryable: true,
    });
  }
}

/** What a tool changes: nothing, the workspace, or something outside. */
export type ToolEffect = 'read' | 'write' | 'external';

/** Files are available only through `view`. */
export interface ToolCall {
  /**
   * The call id is the same in every run of the turn, so external systems can use it as an
   * idempotency key.
   */
  readonly callId: string;
  readonly turnId: string;
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** Incremented by each `/new`. */
  readonly session: number;
  /** The messages that this turn answers; absent if no person wrote one. */
  readonly messages?: readonly InboundMessage[];
  /** The route of the answer. */
  readonly route?: ReplyRoute;
  /** What the turn had read at the time of the call. */
  readonly moment?: CallMoment;
  /** The content of the tool's own proposal, if a person approved one. */
  readonly approved?: string;
  /**
   * Asks the person whom the turn answers: the turn is suspended, and the tool is called again once
   * the person has answered. Absent if no person is waiting.
   */
  readonly ask?: (question: PersonQuestion) => Promise<PersonAnswer>;
  /** Stores content of a call that must wait for a person before it changes anything. */
  readonly held?: HeldCall;
  /** Shows Markdown during the turn on platforms that support it; the answer replaces it. */
  readonly show?: (markdown: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Fires when the turn is stopped or the tool's time limit is reached. */
  readonly signal: AbortSignal;
}

/**
 * Content that a call stores in its turn's journal while it waits. Without stored content, a later
 * run would treat the started call as interrupted. Stored content means that the call has not
 * changed anything yet and may run again with this content.
 */
export interface HeldCall {
  /** The content that earlier runs have stored, in order. */
  readonly kept: readonly unknown[];
  keep(content: unknown): Promise<void>;
  /**
   * Records that the call may have side effects after this point. Needed only after content was
   * stored with `hold`.
   */
  begin(): Promise<void>;
}

export interface PersonQuestion {
  /** The question, in Markdown. */
  readonly question: string;
  /** The choices; empty for a question that is answered with a message. */
  readonly choices: readonly string[];
  /** A key that distinguishes a call's questions; each question is asked once. */
  readonly part?: string;
  /**
   * The button for giving no answer, and its effect. The default is *Skip*, which leaves the
   * question open.
   */
  readonly skip?: { readonly label: string; readonly does: string; readonly style?: 'danger' };
}

/** `late` means that no answer arrived in time; `waited` is for people, such as `10 minutes`. */
export type PersonAnswer =
  | { readonly kind: 'chose'; readonly answer: string }
  /** With `sentFiles`, the person sent files instead of text, and `answer` only states that. */
  | { readonly kind: 'wrote'; readonly answer: string; readonly sentFiles?: true }
  | { readonly kind: 'late'; readonly waited: string }
  | { readonly kind: 'skipped' | 'no-person' };

/**
 * The text that a turn has read before a call. Tools decide with these facts whether a call needs
 * an approval.
 */
export interface CallMoment {
  readonly reader: Reader;
  /**
   * The text of the people whom this turn answers, or of the owner whose standing task it carries
   * out.
   */
  readonly said: readonly string[];
  readonly results: readonly { readonly tool: string; readonly text: string }[];
  readonly quoted: readonly string[];
  /** Whether the turn has read text from outsiders, which may have prompted the call. */
  readonly untrustedText: boolean;
}

/** A change as a person must see it before it is applied. */
export interface Proposal {
  /** The complete result of the change, shown instead of the arguments. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** The content that is passed back as `approved` and then written exactly. */
  readonly content: string;
  /**
   * Whether the change always needs an approval, even if a wildcard in the settings covers the
   * call.
   */
  readonly always: boolean;
}

export interface ToolOutcome {
  readonly text: string;
  /**
   * Parley's own text, placed before `text`. For a third-party tool only `text` is framed as
   * untrusted.
   */
  readonly note?: string;
  readonly failed?: boolean;
  /**
   * Files created by the tool. The files are kept for this conversation and can be sent with
   * `send_file`.
   */
  readonly files?: readonly ToolFile[];
}

export interface ToolFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A tool of the agent (G02). */
export interface Tool<Input = unknown> {
  /** `snake_case`, at most 64 characters. */
  readonly name: string;
  /** One sentence for the prompt and for the provider. */
  readonly summary: string;
  /** When to use the tool and when not to, for the prompt. */
  readonly hint?: string;
  readonly tier: ToolTier;
  /**
   * The group of a tool that most conversations never need. Where tools are offered by need, it is
   * offered once the group is open; a call runs in any case.
   */
  readonly group?: string;
  readonly effect: ToolEffect;
  /** `owner` tools are offered in the main session only. */
  readonly audience: 'everyone' | 'owner';
  /**
   * `ask`: each call needs an approval (G05). `ask-after-untrusted-text`: calls need an approval
   * once the turn has read text from outsiders.
   */
  readonly approval: 'never' | 'ask' | 'ask-after-untrusted-text';
  /**
   * Which calls need an approval if `spares` exempts others, in words for the model, such as
   * "`write` to AGENTS.md".
   */
  readonly asksAbout?: string;
  /**
   * Whether the results may have been written by outsiders. The default is true for tools from
   * plugins and MCP servers.
   */
  readonly foreign?: boolean;
  /**
   * Whether this call needs no approval although other calls of the tool do. The settings may still
   * require an approval for such a call.
   */
  spares?(input: Input, moment: CallMoment): boolean;
  /** The change that a call would make, if people must see that instead of the arguments. */
  proposes?(input: Input, at: Pick<ToolCall, 'facts' | 'view'>): Promise<Proposal | null>;
  /** True if the result changes by itself, so that repeating a call immediately makes sense. */
  readonly repeats?: boolean;
  /**
   * True if two calls with the same `callId` act only once, so that a resumed turn may repeat the
   * call.
   */
  readonly actsOnce?: boolean;
  /**
   * Limits that override those in the settings: the time in ms, and the length of the result in
   * characters.
   */
  readonly limits?: { readonly ms?: number; readonly characters?: number };
  /** The schema of the tool's arguments. The descriptions in the schema reach the model. */
  readonly input: z.ZodType<Input>;
  /** The message of a thrown error is sent to the model. */
  run(input: Input, call: ToolCall): Promise<ToolOutcome>;
}

export function createFailedOutcome(text: string): ToolOutcome {
  return { text, failed: true };
}

/** Checks a tool's type against its schema, then erases it for lists of tools. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  const { spares, proposes, ...rest } = tool;
  return {
    ...rest,
    ...(spares !== undefined && {
      spares: (input, moment) => spares(tool.input.parse(input), moment),
    }),
    ...(proposes !== undefined && {
      proposes: (input, at) => proposes(tool.input.parse(input), at),
    }),
    run: (input, call) => tool.run(tool.input.parse(input), call),
  };
}

export interface ToolLimits {
  /** The time limit per call, in ms. */
  readonly toolMs: number;
  readonly outputCharacters: number;
}

/** The limits for all calls in one step. */
export interface CallLimits extends ToolLimits {
  /** The maximum number of calls that run; a model that requests more is malfunctioning. */
  readonly calls: number;
}

/** Checked at run time, because plugins are not always written in TypeScript. */
export const ToolOutcomeShape = z.object({
  text: z.string(),
  note: z.string().default(''),
  failed: z.boolean().default(false),
  files: z
    .array(
      z.object({
        name: z.string().min(1).max(255),
        mimeType: z.string().min(1).max(255),
        bytes: z.instanceof(Uint8Array),
      }),
    )
    .max(10)
    .default([]),
});

/**
 * Runs a tool call. Invalid arguments, errors and timeouts are returned as outcomes for the model;
 * only TurnSuspendedError and the abort reason of `stop` are thrown.
 */
export async function runTool(
  {
    tool,
    foreign,
    offered,
  }: {
    readonly tool: Tool;
    readonly foreign: boolean;
    /** The tool definition as sent to the model. */
    readonly offered?: ModelTool | undefined;
  },
  call: ModelToolCall,
  at: Omit<ToolCall, 'signal'>,
  { toolMs, outputCharacters }: ToolLimits,
  stop: AbortSignal,
): Promise<Omit<ToolOutcome, 'note'> & { readonly failed: boolean }> {
  const input = parseToolArguments(call);
  if (input === null || !tool.input.safeParse(input).success) {
    const { explainArgumentFault } = await import('./argument-faults.ts');
    return { text: explainArgumentFault(tool, call, input, offered), failed: true };
  }
  try {
    const result = await runWithTimeLimit({ ms: tool.limits?.ms ?? toolMs, stop }, (signal) =>
      tool.run(input, { ...at, signal }),
    );
    const { text, note, failed, files } = ToolOutcomeShape.parse(result);
    const characters = tool.limits?.characters ?? outputCharacters;
    const cut = truncateText(text, characters, `what ${tool.name} said`).text;
    const shown = frameResult(foreign, note, cut) || '(It said nothing.)';
    return { text: shown, failed, ...(files.length > 0 && { files }) };
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof TurnSuspendedError) throw error;
    const reason = reasonOf(error);
    at.log.warn({ tool: tool.name, reason }, 'tool failed');
    const shownReason = truncateText(reason, 2_000, 'the reason').text;
    const isLate = error instanceof TimeUpError;
    const text =
      foreign && !isLate
        ? frameResult(foreign, `${tool.name} failed.`, shownReason)
        : `${tool.name} failed: ${shownReason}.${isLate && tool.effect !== 'read' ? UNSURE : ''}`;
    return { text, failed: true };
  }
}

/** After a timeout, an external effect may or may not have happened. */
const UNSURE = ' It is not known whether it took effect: check before you do it again.';

/** The frame is added last, so that truncating a result never cuts the frame's closing line. */
function frameResult(foreign: boolean, note: string, text: string): string {
  const shown = foreign && text !== '' ? frameUntrusted(text) : text;
  return [note, shown].filter((part) => part !== '').join('\n\n');
}

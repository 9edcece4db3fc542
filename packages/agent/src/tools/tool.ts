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
import { type ModelTool, type ModelToolCall, toolArguments } from '@parley/models';
import { frameUntrusted, type ToolTier } from '@parley/prompt';
import { cutText, type WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { runWithTimeLimit, TimeUpError } from '../time.ts';

/** Thrown to leave the loop of a turn that waits for a person's decision. Nothing has failed. */
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

/** One call to a tool. Files are available only through `view`. */
export interface ToolCall {
  /** Identical in every run of the turn, so it can serve as an idempotency key outside. */
  readonly callId: string;
  readonly turnId: string;
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** Incremented by each `/new`. */
  readonly session: number;
  /** The messages that this turn answers; absent if no person wrote one. */
  readonly messages?: readonly InboundMessage[];
  /** Where the answer goes. */
  readonly route?: ReplyRoute;
  /** What the turn had read at the time of the call. */
  readonly moment?: CallMoment;
  /** The content of the tool's own proposal, if a person approved one. */
  readonly approved?: string;
  /**
   * Asks the person whom the turn answers, and waits: the turn is suspended, and the tool is called
   * again once there is an answer. Absent if no person is waiting.
   */
  readonly ask?: (question: PersonQuestion) => Promise<AskedPerson>;
  /**
   * For a tool that discovers during a call that it must wait for a person, before it has changed
   * anything.
   */
  readonly held?: HeldCall;
  /** Shows Markdown during the turn on platforms that support it; the answer replaces it. */
  readonly show?: (markdown: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Fires when the turn is stopped or the tool's time limit is reached. */
  readonly signal: AbortSignal;
}

/**
 * Content that a call stores in the journal of its turn while it waits. Without it, a later run
 * would treat the started call as interrupted. Stored content means that nothing was changed and
 * that the call may run again with it.
 */
export interface HeldCall {
  /** The content that earlier runs have stored, in order. */
  readonly kept: readonly unknown[];
  keep(content: unknown): Promise<void>;
  /**
   * Records that the call may change something from here on. Needed only after content was stored.
   */
  begin(): Promise<void>;
}

export interface PersonQuestion {
  /** The question, in Markdown. */
  readonly question: string;
  /** Empty for a question that is answered with a message. */
  readonly choices: readonly string[];
  /** Distinguishes the questions of one call, each of which is asked once. */
  readonly part?: string;
  /**
   * The button for giving no answer, and what it does. The default is *Skip*, which leaves the
   * question open.
   */
  readonly skip?: { readonly label: string; readonly does: string; readonly style?: 'danger' };
}

/**
 * The answer from a person who was asked. `late` means that none arrived in time; `waited` is for
 * people, such as `10 minutes`.
 */
export type AskedPerson =
  | { readonly kind: 'chose'; readonly answer: string }
  /** With `sentFiles`, the person sent files instead of text, and `answer` only says so. */
  | { readonly kind: 'wrote'; readonly answer: string; readonly sentFiles?: true }
  | { readonly kind: 'late'; readonly waited: string }
  | { readonly kind: 'skipped' | 'no-person' };

/** What a turn has read before a call. Tools use it to decide whether a call needs an approval. */
export interface CallMoment {
  readonly reader: Reader;
  /**
   * The text of the people whom this turn answers, or of the owner whose standing task it carries
   * out.
   */
  readonly said: readonly string[];
  readonly results: readonly { readonly tool: string; readonly text: string }[];
  /** Text quoted by those people. */
  readonly quoted: readonly string[];
  /** Whether text from outsiders has been read, which may have prompted the call. */
  readonly untrustedText: boolean;
}

/** A change as a person must see it before it is made. */
export interface Proposal {
  /** Shown instead of the arguments: everything that the change will leave behind. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** Passed back as `approved`; exactly this is written. */
  readonly content: string;
  /** Always needs an approval, even if a wildcard in the settings covers the call. */
  readonly always: boolean;
}

export interface ToolOutcome {
  readonly text: string;
  /** Parley's own text before `text`. For a third-party tool only `text` is framed as untrusted. */
  readonly note?: string;
  readonly failed?: boolean;
  /**
   * Files created by the tool. They are kept for this conversation and can be sent with
   * `send_file`.
   */
  readonly files?: readonly ToolFile[];
}

/** A file created by a tool. */
export interface ToolFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Something the agent can do (G02). */
export interface Tool<Input = unknown> {
  /** `snake_case`, at most 64 characters. */
  readonly name: string;
  /** One sentence for the prompt and the provider. */
  readonly summary: string;
  /** When to use it and when not, for the prompt. */
  readonly hint?: string;
  readonly tier: ToolTier;
  readonly effect: ToolEffect;
  /** `owner` tools are offered in the main session only. */
  readonly audience: 'everyone' | 'owner';
  /**
   * `ask`: each call needs an approval (G05). `ask-after-untrusted-text`: only once text from
   * outsiders has been read in the turn.
   */
  readonly approval: 'never' | 'ask' | 'ask-after-untrusted-text';
  /**
   * Which calls need an approval if `spares` exempts others, in words for the model, such as
   * "`write` to AGENTS.md".
   */
  readonly asksAbout?: string;
  /**
   * Whether its results may have been written by outsiders. The default is true for tools from
   * plugins and MCP servers.
   */
  readonly foreign?: boolean;
  /** Whether a call needs no approval although others do. The settings may still require one. */
  spares?(input: Input, moment: CallMoment): boolean;
  /** The change that a call would make, if people must see that instead of the arguments. */
  proposes?(input: Input, at: Pick<ToolCall, 'facts' | 'view'>): Promise<Proposal | null>;
  /** Its result changes by itself, so repeating a call immediately makes sense. */
  readonly repeats?: boolean;
  /** If called twice with the same `callId` it acts once, so a resumed turn may repeat the call. */
  readonly actsOnce?: boolean;
  /** Limits that override those in the settings: time in ms, and characters of its result. */
  readonly limits?: { readonly ms?: number; readonly characters?: number };
  /** The schema of its arguments. The descriptions in it reach the model. */
  readonly input: z.ZodType<Input>;
  /** Runs the tool. The model reads the message of an error that it throws. */
  run(input: Input, call: ToolCall): Promise<ToolOutcome>;
}

export function createFailure(text: string): ToolOutcome {
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
  /** How many calls run; a model that requests more has lost track. */
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
 * Runs a tool call. Invalid arguments, errors and timeouts are outcomes for the model; throws only
 * if `stop` has fired, and TurnSuspendedError.
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
  const input = toolArguments(call);
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
    const cut = cutText(text, characters, `what ${tool.name} said`).text;
    const shown = frameResult(foreign, note, cut) || '(It said nothing.)';
    return { text: shown, failed, ...(files.length > 0 && { files }) };
  } catch (error) {
    stop.throwIfAborted();
    if (error instanceof TurnSuspendedError) throw error;
    const reason = reasonOf(error);
    at.log.warn({ tool: tool.name, reason }, 'tool failed');
    const shownReason = cutText(reason, 2_000, 'the reason').text;
    const isLate = error instanceof TimeUpError;
    const text =
      foreign && !isLate
        ? frameResult(foreign, `${tool.name} failed.`, shownReason)
        : `${tool.name} failed: ${shownReason}.${isLate && tool.effect !== 'read' ? UNSURE : ''}`;
    return { text, failed: true };
  }
}

/** After a timeout, an external effect may or may not have happened. */
const UNSURE = ' Whether it took effect is not known: look before you do it again.';

/** Adds the frame last, so that truncating a result never cuts its closing line. */
function frameResult(foreign: boolean, note: string, text: string): string {
  const shown = foreign && text !== '' ? frameUntrusted(text) : text;
  return [note, shown].filter((part) => part !== '').join('\n\n');
}

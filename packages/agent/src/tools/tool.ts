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
import { TimeUpError, withTimeLimit } from '../time.ts';

/** A turn waits for a person's decision. Thrown to leave the loop; nothing has failed. */
export class TurnSuspendedError extends ParleyError {
  constructor(tool: string) {
    super({
      code: 'turn-suspended',
      message: `The turn waits for a person to decide about ${tool}; it continues after that.`,
      retryable: true,
    });
  }
}

/** The effect of a tool: nothing, the workspace, or something outside. */
export type ToolEffect = 'read' | 'write' | 'external';

/** One call of a tool. Files come through `view` and no other way. */
export interface ToolCall {
  /** The same in every run of the turn: an idempotency key for what lies outside. */
  readonly callId: string;
  readonly turnId: string;
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** Counts up with each `/new`. */
  readonly session: number;
  /** The messages that this turn answers; absent where no person wrote one. */
  readonly messages?: readonly InboundMessage[];
  /** The destination of the answer. */
  readonly route?: ReplyRoute;
  /** The content that the turn had read at the time of the call. */
  readonly moment?: CallMoment;
  /** The content of the tool's own proposal, if a person approved one. */
  readonly approved?: string;
  /**
   * Asks the person whom the turn answers and waits: the turn is suspended, and the tool is called again once
   * there is an answer. Absent where no person waits.
   */
  readonly ask?: (question: PersonQuestion) => Promise<AskedPerson>;
  /** For a tool that learns during a call that it has to wait for a person, and has changed nothing by then. */
  readonly held?: HeldCall;
  /** Shows Markdown during the turn, where the platform can; the answer replaces it. */
  readonly show?: (markdown: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Fires when the turn is stopped or the time of the tool is up. */
  readonly signal: AbortSignal;
}

/**
 * The content that a call keeps in the journal of its turn while it waits. Otherwise a later run would cut off a call
 * that was started: what is kept says that nothing was changed, and that the call may be run again with it.
 */
export interface HeldCall {
  /** The content that earlier runs have kept, in order. */
  readonly kept: readonly unknown[];
  keep(content: unknown): Promise<void>;
  /** From here on the call may change something again. Only where something was kept. */
  begin(): Promise<void>;
}

export interface PersonQuestion {
  /** In Markdown. */
  readonly question: string;
  /** None for a question that is answered with a message. */
  readonly choices: readonly string[];
  /** Which of the questions of one call it is, where it has several: each is asked once. */
  readonly part?: string;
  /** The button for no answer, and what that does; without it *Skip*, which leaves the question open. */
  readonly skip?: { readonly label: string; readonly does: string; readonly style?: 'danger' };
}

/** The answer of a person who was asked. `late`: nothing in time; `waited` for people, as `10 minutes`. */
export type AskedPerson =
  | { readonly kind: 'chose'; readonly answer: string }
  /** `sentFiles`: instead of words; the answer only says so. */
  | { readonly kind: 'wrote'; readonly answer: string; readonly sentFiles?: true }
  | { readonly kind: 'late'; readonly waited: string }
  | { readonly kind: 'skipped' | 'no-person' };

/** The content that a turn has read before a call; tools decide by it whether a call needs an approval. */
export interface CallMoment {
  readonly reader: Reader;
  /** Text of the people whom this turn answers, or of the owner whose standing task it does. */
  readonly said: readonly string[];
  readonly results: readonly { readonly tool: string; readonly text: string }[];
  /** Text of those whom the people quote. */
  readonly quoted: readonly string[];
  /** Text of outsiders has been read, and may be why the call is made. */
  readonly untrustedText: boolean;
}

/** A change as a person has to see it before it is made. */
export interface Proposal {
  /** Shown instead of the arguments: all that will be there afterwards. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** Comes back as `approved`: this and nothing else is written. */
  readonly content: string;
  /** Always needs an approval, which no wildcard of the settings gives. */
  readonly always: boolean;
}

export interface ToolOutcome {
  readonly text: string;
  /** Parley's own text before it: of a foreign tool only `text` is framed as untrusted. */
  readonly note?: string;
  readonly failed?: boolean;
  /** Files that it made: kept for this conversation, to be sent with `send_file`. */
  readonly files?: readonly ToolFile[];
}

/** A file that a tool has made. */
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
  /** When to use it, and when not; for the prompt. */
  readonly hint?: string;
  readonly tier: ToolTier;
  readonly effect: ToolEffect;
  /** `owner`: offered in the main session alone. */
  readonly audience: 'everyone' | 'owner';
  /**
   * `ask`: each call needs an approval (G05). `ask-after-untrusted-text`: only once text of outsiders has
   * been read in the turn.
   */
  readonly approval: 'never' | 'ask' | 'ask-after-untrusted-text';
  /** With `spares`: the calls that it asks about, for the model, such as "`write` to AGENTS.md". */
  readonly asksAbout?: string;
  /** Outsiders may have written its results; by default true for tools of plugins and MCP servers. */
  readonly foreign?: boolean;
  /** Calls that need no approval although others do; the settings may require one all the same. */
  spares?(input: Input, moment: CallMoment): boolean;
  /** The change that a call would make, where people must see it instead of the arguments. */
  proposes?(input: Input, at: Pick<ToolCall, 'facts' | 'view'>): Promise<Proposal | null>;
  /** Its result changes by itself, so that the same call again makes sense at once. */
  readonly repeats?: boolean;
  /** Called twice with the same `callId` it acts once, so a resumed turn may repeat the call. */
  readonly actsOnce?: boolean;
  /** Instead of the limits in the settings: time in ms, and characters of its result. */
  readonly limits?: { readonly ms?: number; readonly characters?: number };
  /** Its descriptions reach the model. */
  readonly input: z.ZodType<Input>;
  /** The model reads the message of an error that it throws. */
  run(input: Input, call: ToolCall): Promise<ToolOutcome>;
}

export function failure(text: string): ToolOutcome {
  return { text, failed: true };
}

/** Checks the type of a tool against its schema, and erases it for lists of tools. */
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
  /** In ms. */
  readonly toolMs: number;
  readonly outputCharacters: number;
}

/** The same for all calls of one step. */
export interface CallLimits extends ToolLimits {
  /** Calls that are run; a model that asks for more has lost its way. */
  readonly calls: number;
}

/** Tools of plugins are not always written in TypeScript. */
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

/** Invalid arguments, errors and timeouts are outcomes for the model. Throws only when `stop` has fired. */
export async function runTool(
  {
    tool,
    foreign,
    offered,
  }: {
    readonly tool: Tool;
    readonly foreign: boolean;
    /** As the model knows it. */
    readonly offered?: ModelTool | undefined;
  },
  call: ModelToolCall,
  at: Omit<ToolCall, 'signal'>,
  { toolMs, outputCharacters }: ToolLimits,
  stop: AbortSignal,
): Promise<Omit<ToolOutcome, 'note'> & { readonly failed: boolean }> {
  const input = toolArguments(call);
  if (input === null || !tool.input.safeParse(input).success) {
    const { argumentFault } = await import('./argument-faults.ts');
    return { text: argumentFault(tool, call, input, offered), failed: true };
  }
  try {
    const result = await withTimeLimit({ ms: tool.limits?.ms ?? toolMs, stop }, (signal) =>
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

/** After a timeout an effect outside may or may not have happened. */
const UNSURE = ' Whether it took effect is not known: look before you do it again.';

/** The frame comes last: whatever shortens a result keeps its closing line. */
function frameResult(foreign: boolean, note: string, text: string): string {
  const shown = foreign && text !== '' ? frameUntrusted(text) : text;
  return [note, shown].filter((part) => part !== '').join('\n\n');
}

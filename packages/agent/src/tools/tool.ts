import type { Clock, InboundMessage, Logger, Reader, RuntimeFacts } from '@parley/contracts';
import type { ToolTier } from '@parley/prompt';
import type { WorkspaceView } from '@parley/workspace';
import type { z } from 'zod';

/** What a tool touches: `read` nothing is changed, `write` the workspace, `external` the world. */
export type ToolEffect = 'read' | 'write' | 'external';

/** One call of a tool. Files come through `view` and no other way. */
export interface ToolCall {
  /** The same in every run of the turn: an idempotency key for what lies outside. */
  readonly callId: string;
  /** The turn that calls. */
  readonly turnId: string;
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** Counts up with each `/new`. */
  readonly session: number;
  /** What the people wrote whom this turn answers; absent where nobody did. */
  readonly messages?: readonly InboundMessage[];
  /** What had been said when it was called. */
  readonly moment?: CallMoment;
  /** What a person has approved of the tool's own proposal; absent where nobody was asked. */
  readonly approved?: string;
  /** Shows people Markdown while the turn goes on, where the platform can; the answer takes its place. */
  readonly show?: (markdown: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** Fires when the turn is stopped or the time of the tool is up. */
  readonly signal: AbortSignal;
}

/** What has been said in a turn before a call; tools judge by it whether a call needs a yes. */
export interface CallMoment {
  readonly reader: Reader;
  /** What the people wrote whom this turn answers, or the owner whose standing task it does. */
  readonly said: readonly string[];
  /** What tools answered in this turn. */
  readonly results: readonly { readonly tool: string; readonly text: string }[];
  /** What those wrote whom the people quote. */
  readonly quoted: readonly string[];
  /** Words of outsiders have been read in it, and may be what the call comes from. */
  readonly foreignWords: boolean;
}

/** A change as a person has to see it before it is made. */
export interface Proposal {
  /** What the question shows instead of the arguments: all that will be there afterwards. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** Comes back as `approved`: this and nothing else is written. */
  readonly content: string;
  /** A person is asked whatever has been read in the turn, and no wildcard of the settings allows it. */
  readonly always: boolean;
}

/** What the model is given back. `failed`: it was tried and did not work, and the text says why. */
export interface ToolOutcome {
  readonly text: string;
  /** Parley's own words before it: of a foreign tool only `text` stands in the frame of outsiders. */
  readonly note?: string;
  readonly failed?: boolean;
}

/** Something the agent can do (G02). Each tool is one file. */
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
   * `ask`: somebody has to say yes to each call (G05). `ask-after-foreign-words`: to those that are made
   * once words of outsiders have been read in the turn.
   */
  readonly approval: 'never' | 'ask' | 'ask-after-foreign-words';
  /** Of a tool that spares some: which it asks about, for the model, such as "`write` to AGENTS.md". */
  readonly asksAbout?: string;
  /** Outsiders may have written what it says; when absent true of tools that others bring, and of no other. */
  readonly foreign?: boolean;
  /** Calls that need no yes although others do; the settings may ask for one all the same. */
  spares?(input: Input, moment: CallMoment): boolean;
  /** What a call would change, where people have to see that and not its arguments; null: nothing of the kind. */
  proposes?(input: Input, at: Pick<ToolCall, 'facts' | 'view'>): Promise<Proposal | null>;
  /** Called twice with the same `callId` it acts once: a turn that is run again may repeat the call. */
  readonly actsOnce?: boolean;
  /** Bounds of its own, where those of the settings do not fit: in ms, and in characters of its result. */
  readonly limits?: { readonly ms?: number; readonly characters?: number };
  /** What the model must send; its descriptions reach the model. */
  readonly input: z.ZodType<Input>;
  /** Errors it throws are told to the model in their own words; it goes on without the result. */
  run(input: Input, call: ToolCall): Promise<ToolOutcome>;
}

/** The outcome of a call that did not work. */
export function failure(text: string): ToolOutcome {
  return { text, failed: true };
}

/** Ties the type of a tool's input to its schema and forgets it again, for lists of tools. */
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

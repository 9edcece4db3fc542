import {
  type InboundMessage,
  type Logger,
  PromptPart,
  type Reader,
  type RuntimeFacts,
  reasonOf,
} from '@parley/core';
import { type FilePattern, restrictView, type WorkspaceView } from '@parley/workspace';
import { z } from 'zod';
import { runWithTimeLimit } from '../time.ts';

export interface TurnOpening {
  readonly facts: RuntimeFacts;
  readonly reader: Reader;
  readonly view: WorkspaceView;
  /** The people's text as the model receives it. */
  readonly text: string;
  /** The messages as they were written, without attachments and context. */
  readonly messages?: readonly InboundMessage[];
}

/** Parts that the reader may not see are withheld (W02). */
export interface TurnAdditions {
  /** Placed after the layers of the layout and before the ephemeral prompt. */
  readonly system?: readonly PromptPart[];
  /** Placed before the person's own text, as data. */
  readonly userContext?: readonly PromptPart[];
}

export interface TurnClosing extends TurnOpening {
  /** The answer in Markdown; empty if the agent stayed silent. */
  readonly answer: string;
  readonly outcome: 'answered' | 'failed';
}

/**
 * Runs before and after each turn (P16). By default a hook has two seconds; one that throws or
 * takes longer is left out and logged, and the person still gets an answer.
 */
export interface TurnHook {
  /** The name in logs, in kebab-case. */
  readonly id: string;
  /** The workspace files that `before` reads. Other files are hidden from the hook. */
  readonly reads?: readonly FilePattern[];
  before?(turn: TurnOpening, signal: AbortSignal): Promise<TurnAdditions>;
  after?(turn: TurnClosing, signal: AbortSignal): Promise<void>;
}

const HOOK_MS = 2_000;

interface HookServices {
  readonly hooks?: readonly TurnHook[];
  readonly log: Logger;
  readonly hookMs?: number;
}

/**
 * Checked at run time, because plugins are not always written in TypeScript and a part without an
 * audience must be rejected.
 */
export const TurnAdditionsShape = z.object({
  system: z.array(PromptPart).optional(),
  userContext: z.array(PromptPart).optional(),
});

/**
 * The maximum length of the text that one hook adds to a prompt, in characters; equal to that of
 * the longest workspace file.
 */
const MAX_ADDED_CHARACTERS = 65_536;

/**
 * Throws if a hook adds more than the limit. The text is not truncated, because a part of it could
 * have a different meaning.
 */
function assertWithinHookLimits({
  system = [],
  userContext = [],
}: z.infer<typeof TurnAdditionsShape>): void {
  const characters = [...system, ...userContext].reduce((sum, { text }) => sum + text.length, 0);
  if (characters <= MAX_ADDED_CHARACTERS) return;
  throw new Error(
    `it added ${characters} characters to the prompt, but the maximum is ${MAX_ADDED_CHARACTERS}`,
  );
}

/**
 * Collects the additions of all hooks to a turn, in order. A hook that fails is omitted and logged.
 */
export async function runBeforeHooks(
  { hooks = [], log, hookMs = HOOK_MS }: HookServices,
  turn: TurnOpening,
  stop: AbortSignal,
): Promise<Required<TurnAdditions>> {
  const system: PromptPart[] = [];
  const userContext: PromptPart[] = [];
  for (const hook of hooks) {
    if (hook.before === undefined) continue;
    const view = restrictView(turn.view, hook, log);
    try {
      const added = await runWithTimeLimit({ ms: hookMs, stop }, async (signal) =>
        TurnAdditionsShape.parse(await hook.before?.({ ...turn, view }, signal)),
      );
      assertWithinHookLimits(added);
      system.push(...(added.system ?? []));
      userContext.push(...(added.userContext ?? []));
    } catch (error) {
      stop.throwIfAborted();
      log.error({ hook: hook.id, reason: reasonOf(error) }, 'a hook failed and was left out');
    }
  }
  return { system, userContext };
}

/**
 * Runs the hooks for the end of a turn after its commit. Never throws, because the answer is
 * already committed. The next turn of the conversation and a shutdown wait for the hooks, because
 * they are not called again.
 */
export async function runAfterHooks(
  { hooks = [], log, hookMs = HOOK_MS }: HookServices,
  turn: TurnClosing,
): Promise<void> {
  for (const hook of hooks) {
    if (hook.after === undefined) continue;
    try {
      await runWithTimeLimit({ ms: hookMs }, async (signal) => hook.after?.(turn, signal));
    } catch (error) {
      log.error({ hook: hook.id, reason: reasonOf(error) }, 'a hook failed after its turn');
    }
  }
}

import { type Logger, PromptPart, reasonOf } from '@parley/contracts';
import { restrictView } from '@parley/workspace';
import { z } from 'zod';
import { withTimeLimit } from '../time-limit.ts';
import type { TurnAdditions, TurnClosing, TurnHook, TurnOpening } from './turn-hook.ts';

/** How long one hook may take, in ms. */
const HOOK_MS = 2_000;

/** What running hooks needs. */
export interface HookDeps {
  /** In this order; none when absent. */
  readonly hooks?: readonly TurnHook[];
  readonly log: Logger;
  /** `HOOK_MS` when absent. */
  readonly hookMs?: number;
}

/** Plugins are not always written in TypeScript, and a part without an audience must not get far. */
const Additions = z.object({
  system: z.array(PromptPart).optional(),
  userContext: z.array(PromptPart).optional(),
});

/** What the hooks add to a turn, in their order; one that fails is left out and logged. */
export async function runBefore(
  { hooks = [], log, hookMs = HOOK_MS }: HookDeps,
  turn: TurnOpening,
  stop: AbortSignal,
): Promise<Required<TurnAdditions>> {
  const system: PromptPart[] = [];
  const userContext: PromptPart[] = [];
  for (const hook of hooks) {
    if (hook.before === undefined) continue;
    const view = restrictView(turn.view, hook, log);
    try {
      const added = await withTimeLimit({ ms: hookMs, stop }, async (signal) =>
        Additions.parse(await hook.before?.({ ...turn, view }, signal)),
      );
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
 * Tells the hooks how a turn ended, once it is committed. Never throws: the answer is on its way. The
 * next turn of the conversation and a shutdown wait for them, since nobody will tell them again.
 */
export async function runAfter(
  { hooks = [], log, hookMs = HOOK_MS }: HookDeps,
  turn: TurnClosing,
): Promise<void> {
  for (const hook of hooks) {
    if (hook.after === undefined) continue;
    try {
      await withTimeLimit({ ms: hookMs }, async (signal) => hook.after?.(turn, signal));
    } catch (error) {
      log.error({ hook: hook.id, reason: reasonOf(error) }, 'a hook failed after its turn');
    }
  }
}

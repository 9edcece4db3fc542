import type { Clock, Logger } from '@parley/contracts';
import type { PromptInspector } from '@parley/gateway';
import { startSweep } from '@parley/queue';
import type { PromptRepository } from '@parley/store';
import { promptInspector } from './prompt-inspector.ts';

/** The prompts of past turns: who may write them, who shows them, and how they grow old. */
export interface Inspector extends AsyncDisposable {
  /** For the page. */
  readonly shown: PromptInspector;
  /** For the turns: nothing where nothing is to be recorded. */
  readonly recording: { readonly prompts?: PromptRepository };
}

/** What the inspector works with. */
export interface InspectorDeps {
  readonly preview: PromptInspector['preview'];
  readonly clock: Clock;
  readonly log: Logger;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Keeps prompts for `keepDays`, and drops older ones now and once a day; with 0 all that are left
 * from before they were switched off.
 */
export function openInspector(
  prompts: PromptRepository,
  { keepDays }: { readonly keepDays: number },
  { preview, clock, log }: InspectorDeps,
): Inspector {
  const oldest = () => (keepDays === 0 ? Number.MAX_SAFE_INTEGER : clock() - keepDays * DAY_MS);
  const forgetting = startSweep('old prompts', DAY_MS, log, () => prompts.forget(oldest()));
  return {
    shown: promptInspector(prompts, preview),
    recording: keepDays === 0 ? {} : { prompts },
    [Symbol.asyncDispose]: () => forgetting.stop(),
  };
}

import type { PromptInspector } from '@parley/gateway';
import type { PromptRepository } from '@parley/store';
import { promptInspector } from './prompt-inspector.ts';

/** The prompts of past turns: who may write them, and who shows them. How they grow old: `keep-retention.ts`. */
export interface Inspector {
  /** For the page. */
  readonly shown: PromptInspector;
  /** For the turns: nothing where nothing is to be recorded. */
  readonly recording: { readonly prompts?: PromptRepository };
}

/** Records prompts unless they are kept for no day. */
export function openInspector(
  prompts: PromptRepository,
  { keepDays }: { readonly keepDays: number },
  preview: PromptInspector['preview'],
): Inspector {
  return {
    shown: promptInspector(prompts, preview),
    recording: keepDays === 0 ? {} : { prompts },
  };
}

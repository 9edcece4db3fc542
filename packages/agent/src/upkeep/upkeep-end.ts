import { estimateTokens } from '@parley/workspace';
import type { StepUsage } from '../loop/turn-journal.ts';
import { MEMORY_TOKENS, type UpkeepOutcome } from './apply-proposal.ts';

/** How a run of upkeep ended; nobody is told, and `reason` is for the log and `/heartbeat`. */
export interface UpkeepEnd {
  readonly state: 'quiet' | 'unclear' | 'failed';
  readonly reason: string;
  /** Null: the model was not asked. */
  readonly usage: StepUsage | null;
}

/** Such as `MEMORY.md: 3 added, 2 removed`; holds nothing of what stands in it. */
export function upkeepReason({ text, added, removed, refused }: UpkeepOutcome): string {
  const tokens = estimateTokens(text);
  return [
    added.length + removed.length === 0
      ? 'MEMORY.md: nothing to change'
      : `MEMORY.md: ${added.length} added, ${removed.length} removed`,
    ...(refused.length > 0 ? [`${refused.length} of what was proposed is not done`] : []),
    ...(tokens > MEMORY_TOKENS
      ? [`still ${tokens} tokens: what is left is no list, so only a person can shorten it`]
      : []),
  ].join('; ');
}

/** The changes as they are kept with the version that comes of them, each in one line. */
export function changesOf({ added, removed }: UpkeepOutcome): readonly string[] {
  return [
    ...added.map(({ text, why }) => `+ ${text} (${why})`),
    ...removed.map(({ text, why }) => `- ${text} (${why})`),
  ];
}

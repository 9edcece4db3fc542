import { ParleyError } from '@parley/core';
import { DEFAULT_ANSWER_BOUNDS } from '@parley/models';
import { DEFAULT_ANSWER_MESSAGES } from '../answer/long-answer.ts';
import type { CallLimits } from '../tools/tool.ts';
import { countTruncatedCalls } from './cut-answers.ts';
import type { TurnRound } from './turn-journal.ts';

/** The limits of one turn (G01). */
export interface TurnLimits extends CallLimits {
  /** The maximum number of model calls; in the last one the model must answer. */
  readonly steps: number;
  /**
   * The limit on working time, in ms. After the limit, the model is called once more for its
   * answer.
   */
  readonly turnMs: number;
  /** The limit on the total input and output tokens of all steps. */
  readonly tokens: number;
  /** The maximum number of messages per answer; a longer answer is sent as a file. */
  readonly messages: number;
  /**
   * The maximum length of an answer in characters, both for an answer continued after truncation
   * and for each of its pieces.
   */
  readonly characters: number;
}

export const DEFAULT_TURN_LIMITS: TurnLimits = {
  steps: 20,
  turnMs: 10 * 60_000,
  tokens: 1_000_000,
  toolMs: 60_000,
  outputCharacters: 20_000,
  calls: DEFAULT_ANSWER_BOUNDS.calls,
  messages: DEFAULT_ANSWER_MESSAGES,
  characters: DEFAULT_ANSWER_BOUNDS.characters,
};

export interface TurnProgress {
  readonly rounds: readonly TurnRound[];
  readonly ms: number;
}

/** Returns the reason why the model must answer now; null while it may continue using tools. */
export function describeReachedLimit(
  { rounds, ms }: TurnProgress,
  limits: TurnLimits,
): string | null {
  const reason = findReachedLimit({ rounds, ms }, limits);
  if (reason === null) return null;
  return `[${reason} No more tools are run in this turn. Answer now with what you have, and say what is missing.]`;
}

/** How many times a call that was truncated by the output limit may be retried. */
const MAX_CUT_CALLS = 1;

function findReachedLimit({ rounds, ms }: TurnProgress, limits: TurnLimits): string | null {
  if (rounds.length >= limits.steps - 1)
    return `All ${limits.steps} steps of this turn have been used.`;
  if (ms >= limits.turnMs) return 'The time for this turn is up.';
  if (countTruncatedCalls(rounds) > MAX_CUT_CALLS)
    return 'The output limit has cut off your calls twice.';
  const tokens = rounds.reduce(
    (sum, { step: { usage } }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  return tokens >= limits.tokens ? 'This turn has used all its tokens.' : null;
}

/**
 * Thrown if the model kept calling tools although it had to answer. The message is written for
 * people.
 */
export class TurnLimitError extends ParleyError {
  constructor() {
    const message =
      'I could not finish within the limits of one answer. Please ask for a smaller part, or ask me to go on.';
    super({ code: 'turn-limit', message, retryable: false });
  }
}

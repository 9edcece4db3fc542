import { ParleyError } from '@parley/core';
import { DEFAULT_ANSWER_BOUNDS } from '@parley/models';
import { DEFAULT_ANSWER_MESSAGES } from '../answer/long-answer.ts';
import type { CallLimits } from '../tools/tool.ts';
import { cutCallsInARow } from './cut-answers.ts';
import type { Round } from './turn-journal.ts';

/** Bounds of one turn (G01). */
export interface TurnLimits extends CallLimits {
  /** Times the model is asked; the last time it has to answer. */
  readonly steps: number;
  /** After this the model is asked once more for its answer. In ms. */
  readonly turnMs: number;
  /** The limit on tokens in and out, for all steps together. */
  readonly tokens: number;
  /** Messages of its answer in the chat; a longer one goes as a file. */
  readonly messages: number;
  /** Bounds an answer that is continued where the provider cut it, and each of its pieces. */
  readonly characters: number;
}

/** The limits of a turn unless the settings name others. */
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

/** The usage of a turn so far. */
export interface TurnSpent {
  readonly rounds: readonly Round[];
  readonly ms: number;
}

/** Why the model has to answer now, for the model; null while it may go on with tools. */
export function limitNotice({ rounds, ms }: TurnSpent, limits: TurnLimits): string | null {
  const reason = reachedLimit({ rounds, ms }, limits);
  if (reason === null) return null;
  return `[${reason} No more tools are run in this turn. Answer now with what you have, and say what is missing.]`;
}

/** The number of times a call cut by the output limit is asked for again. */
const MAX_CUT_CALLS = 1;

function reachedLimit({ rounds, ms }: TurnSpent, limits: TurnLimits): string | null {
  if (rounds.length >= limits.steps - 1) return `All ${limits.steps} steps of this turn are used.`;
  if (ms >= limits.turnMs) return 'The time of this turn is up.';
  if (cutCallsInARow(rounds) > MAX_CUT_CALLS) return 'The output limit has cut your calls twice.';
  const tokens = rounds.reduce(
    (sum, { step: { usage } }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  return tokens >= limits.tokens ? 'This turn has used all its tokens.' : null;
}

/** The model went on with tools when it had to answer, and said nothing. For people. */
export class TurnLimitError extends ParleyError {
  constructor() {
    const message =
      'I did not come to an end within the bounds of one answer. Please ask for a smaller part, or ask me to go on.';
    super({ code: 'turn-limit', message, retryable: false });
  }
}

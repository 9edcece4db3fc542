import { type ExceededAnswerLimit, parseToolArguments } from '@parley/models';
import { getVisibleAnswer } from '../answer/visible-text.ts';
import type { JournaledCall, ModelStep, TurnRound } from './turn-journal.ts';

/** How many times an answer is continued after the provider truncated it. */
const MAX_CONTINUATIONS = 3;
/**
 * How much of the end of an answer is quoted in the request for its continuation, in characters.
 */
const QUOTED = 60;

export function isTruncatedText({ cut, calls }: Pick<ModelStep, 'cut' | 'calls'>): boolean {
  return cut === true && calls.length === 0;
}

/**
 * The latest rounds, whose text the next answer continues; empty if the last answer was complete.
 */
function listTruncatedRounds(rounds: readonly TurnRound[]): readonly TurnRound[] {
  const end = rounds.findLastIndex(
    ({ step, joined }) => !isTruncatedText(step) || joined.length > 0,
  );
  return rounds.slice(end + 1);
}

/**
 * The beginning of the next answer, as written in earlier steps; empty if the last answer was
 * complete.
 */
export function joinTruncatedText(rounds: readonly TurnRound[]): string {
  return listTruncatedRounds(rounds)
    .map(({ step }) => step.text)
    .join('');
}

interface ContinuationState {
  readonly answer: {
    readonly text: string;
    readonly calls: readonly unknown[];
    readonly finishReason: string;
    readonly cut?: ExceededAnswerLimit | undefined;
  };
  readonly rounds: readonly TurnRound[];
  /** True if the model must answer without further tool calls. */
  readonly isClosing: boolean;
  /** The maximum length of the answer, in characters. */
  readonly characters: number;
}

/**
 * Whether to ask the model for the rest of its answer: the provider truncated it, the limits allow
 * more, and the model makes progress.
 */
export function canContinue({ answer, rounds, isClosing, characters }: ContinuationState): boolean {
  const { text, calls, finishReason, cut } = answer;
  const isCut = finishReason === 'length' || finishReason === 'error';
  if (!isCut || cut !== undefined || calls.length > 0 || isClosing) return false;
  const whole = joinTruncatedText(rounds) + text;
  return (
    text.trim() !== '' &&
    listTruncatedRounds(rounds).length < MAX_CONTINUATIONS &&
    whole.length < characters &&
    !isSilentAnswer(whole)
  );
}

/** Whether an answer is not shown at all, so that nothing may be appended to it. */
export function isSilentAnswer(text: string): boolean {
  return getVisibleAnswer(text, { known: new Set() }).kind === 'silent';
}

/**
 * Asks for the rest of an answer. The last words are quoted, so that the two texts overlap where
 * they are joined.
 */
export function createContinuationText(text: string): string {
  const words = text
    .slice(-QUOTED)
    .replace(/^\S*\s+(?=\S)/, '')
    .trim();
  return `[From Parley, no person: your answer above was cut at the output limit. Go on exactly where it stopped: repeat its last words “${words}” once, then continue to the end. Do not begin again, and do not comment on this.]`;
}

/** Whether the provider truncated the answer in the middle of this call. */
export function isTruncatedCall(
  { step, calls }: Pick<TurnRound, 'step' | 'calls'>,
  nth: number,
): boolean {
  const call = calls[nth]?.call;
  if (step.cut !== true || call === undefined || nth !== calls.length - 1) return false;
  return call.arguments.trim() === '' || parseToolArguments(call) === null;
}

/** The text that the model gets instead of the result of a truncated call. */
export function describeTruncatedCall({ call: { name } }: JournaledCall): string {
  return `${name} was not run: your answer reached the output limit in the middle of this call, so its arguments are incomplete. Make the call again with less text, in several smaller calls where needed.`;
}

/** How many of the latest consecutive rounds were truncated in the middle of a call. */
export function countTruncatedCalls(rounds: readonly TurnRound[]): number {
  const whole = rounds.findLastIndex((round) => !isTruncatedCall(round, round.calls.length - 1));
  return rounds.length - 1 - whole;
}

/**
 * Drops the incomplete last line of a truncated answer, because half a line could change the
 * meaning.
 */
export function dropIncompleteLine({
  text,
  finishReason,
}: {
  readonly text: string;
  readonly finishReason: string;
}): string {
  return finishReason === 'length' ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
}

import { enforceAudience } from '@parley/prompt';
import { createContinuationJoiner } from '../answer/joint.ts';
import { createAnswerStream } from '../answer/visible-text.ts';
import type { RunningTurn } from '../turn/run.ts';
import type { Turn } from '../turn/turn.ts';
import { listQuotableMessages } from '../turn/turn-text.ts';
import { isTruncatedText, joinTruncatedText } from './cut-answers.ts';
import type { TurnRound } from './turn-journal.ts';

/** Streams the visible text of a step as it grows. */
export interface StepStream {
  /** Adds a fragment as the model wrote it. */
  push(text: string): void;
  /** Marks the text shown so far as reasoning; the next text replaces it. */
  restart(): void;
  /** The text of this step, without any repetition of the answer that it continues. */
  said(): string;
  /** Shows text that was held back because it might have been a repetition. */
  settle(): void;
  /** Ends the step; no more text follows. */
  end(): void;
}

export function createStepStream(
  { turn, means, run }: Pick<RunningTurn, 'turn' | 'means' | 'run'>,
  rounds: readonly TurnRound[],
): StepStream {
  const { conversationId, turnId, route, format } = turn;
  let step = rounds.length;
  const openStream = () =>
    createAnswerStream(listQuotableMessages(turn, run.journal.joined()), ({ text, replyTo }) => {
      // An answer with a format is shown only after validation, because shown text cannot be taken
      // back.
      if (format !== undefined && route.appends === true) return;
      const quoted = replyTo === undefined ? {} : { replyToMessageId: replyTo };
      means.bus.publish({ type: 'turn-delta', conversationId, turnId, step, text, ...quoted });
    });
  let stream = openStream();
  const before = joinTruncatedText(rounds);
  let joint = createContinuationJoiner(before);
  let said = '';
  let unsent: string | null = getUnsentAnswer(turn, rounds);
  const show = (text: string): void => {
    if (text === '') return;
    // An earlier answer that was not sent precedes this text and is sent with it. The earlier
    // answer is shown with the first new text, so that a refused request does not show it twice.
    if (unsent !== null) stream.push(unsent);
    unsent = null;
    said += text;
    stream.push(text);
    if (format === undefined) run.onShown?.(stream.shown());
  };
  return {
    push: (text) => show(before === '' ? text : joint.push(text)),
    restart() {
      // Text with another step number replaces the text shown before.
      step += RESTARTED;
      stream = openStream();
      joint = createContinuationJoiner(before);
      unsent = getUnsentAnswer(turn, rounds);
      said = '';
    },
    said: () => said,
    settle: () => show(joint.end()),
    end: () => stream.end(),
  };
}

/**
 * An offset for the number of a step whose text starts over, larger than the number of steps in any
 * turn.
 */
const RESTARTED = 1_000_000;

/**
 * The text of earlier answers that were not sent because other messages joined. On platforms where
 * shown text cannot be taken back, this includes the text of every step.
 */
export function getUnsentAnswer(
  { reader, route, format }: Pick<Turn, 'reader' | 'route' | 'format'>,
  rounds: readonly TurnRound[],
): string {
  const keepsAll = route.appends === true && format === undefined;
  // A valid answer replaces earlier JSON that did not match the format.
  const lastMisfit = rounds.findLastIndex(({ step }) => step.misfit !== undefined);
  const answers = rounds
    .slice(lastMisfit + 1)
    .filter(({ calls, step }) =>
      keepsAll ? step.text.trim() !== '' : calls.length === 0 && step.misfit === undefined,
    );
  const parts = answers.map(({ step: { audience, ...step }, joined }) => ({
    // A truncated piece is joined to its continuation without a gap.
    text: isTruncatedText(step) && joined.length === 0 ? step.text : `${step.text}\n\n`,
    audience,
    source: 'earlier answer',
  }));
  return enforceAudience(reader, parts)
    .allowed.map(({ text }) => text)
    .join('');
}

import { enforceAudience } from '@parley/prompt';
import { openJoint } from '../answer/joint.ts';
import { answerStream } from '../answer/visible-text.ts';
import type { RunningTurn } from '../turn/run.ts';
import type { Turn } from '../turn/turn.ts';
import { quotableMessages } from '../turn/turn-text.ts';
import { cutBefore, isCutText } from './cut-answers.ts';
import type { Round } from './turn-journal.ts';

/** The visible text of a step while it grows. */
export interface ShownStep {
  /** A piece as the model wrote it. */
  push(text: string): void;
  /** The text shown so far was reasoning: the next text replaces it. */
  restart(): void;
  /** All of this step's own text, without what it repeats of the answer that it continues. */
  said(): string;
  /** Shows what was held back in order to see whether it repeats something. */
  settle(): void;
  /** Nothing more comes. */
  end(): void;
}

export function showStep({ turn, means, run }: RunningTurn, rounds: readonly Round[]): ShownStep {
  const { conversationId, turnId, route, format } = turn;
  let step = rounds.length;
  const openStream = () =>
    answerStream(quotableMessages(turn, run.journal.joined()), ({ text, replyTo }) => {
      // Whether it is the answer shows only when it has been checked, and nothing could be taken back.
      if (format !== undefined && route.appends === true) return;
      const quoted = replyTo === undefined ? {} : { replyToMessageId: replyTo };
      means.bus.publish({ type: 'turn-delta', conversationId, turnId, step, text, ...quoted });
    });
  let stream = openStream();
  const before = cutBefore(rounds);
  let joint = openJoint(before);
  let said = '';
  let unsent: string | null = unsentAnswerText(turn, rounds);
  const show = (text: string): void => {
    if (text === '') return;
    // It is sent together with what comes now, and precedes it; a request that is refused shows nothing twice.
    if (unsent !== null) stream.push(unsent);
    unsent = null;
    said += text;
    stream.push(text);
    if (format === undefined) run.onShown?.(stream.shown());
  };
  return {
    push: (text) => show(before === '' ? text : joint.push(text)),
    restart() {
      // A step of another number replaces what was shown.
      step += RESTARTED;
      stream = openStream();
      joint = openJoint(before);
      unsent = unsentAnswerText(turn, rounds);
      said = '';
    },
    said: () => said,
    settle: () => show(joint.end()),
    end: () => stream.end(),
  };
}

/** Added to the number of a step whose text begins again; no turn has that many steps. */
const RESTARTED = 1_000_000;

/** The answers that other messages joined before they were sent; where nothing can be taken back, the text of each step. */
export function unsentAnswerText(
  { reader, route, format }: Pick<Turn, 'reader' | 'route' | 'format'>,
  rounds: readonly Round[],
): string {
  const keepsAll = route.appends === true && format === undefined;
  // A piece of JSON that did not fit is replaced by an answer that stands alone.
  const lastMisfit = rounds.findLastIndex(({ step }) => step.misfit !== undefined);
  const answers = rounds
    .slice(lastMisfit + 1)
    .filter(({ calls, step }) =>
      keepsAll ? step.text.trim() !== '' : calls.length === 0 && step.misfit === undefined,
    );
  const parts = answers.map(({ step: { audience, ...step }, joined }) => ({
    // What was cut continues without a gap.
    text: isCutText(step) && joined.length === 0 ? step.text : `${step.text}\n\n`,
    audience,
    source: 'answer before',
  }));
  return enforceAudience(reader, parts)
    .allowed.map(({ text }) => text)
    .join('');
}

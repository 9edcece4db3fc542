import { ParleyError } from '@parley/core';
import type { ModelToolCall } from '@parley/models';
import { toCallKey } from '../loop/repeated-call.ts';
import type { JournaledCall, ResultStep, TurnJournal, TurnRound } from '../loop/turn-journal.ts';
import type { ReplayedCall } from './outcome.ts';

/** Ends a replay at a call that the record cannot answer. */
export class DivergedError extends ParleyError {
  readonly call: ReplayedCall;
  constructor({ name, arguments: written }: ModelToolCall) {
    super({
      code: 'replay-diverged',
      message: `The model called ${name} as it did not in the recorded turn, so no recorded result answers the call.`,
      retryable: false,
    });
    this.call = { name, arguments: written };
  }
}

/** Runs a call that the record does not know; null if the call must not run. */
export type RunUnknownCall = (
  call: JournaledCall,
) => Promise<Pick<ResultStep, 'text' | 'failed'> | null>;

/**
 * Answers the calls of a replay with the recorded results, by the tool's name and its arguments in
 * any order. Each result is used once, in recorded order, because a repeated call may have had
 * another result. Results are used as the model received them: checked, framed and truncated.
 */
export function answerFromJournal(
  recorded: readonly TurnRound[],
  journal: Pick<TurnJournal, 'append'>,
  runUnknown: RunUnknownCall = async () => null,
) {
  const left = Map.groupBy(
    recorded.flatMap(({ calls }) => calls.filter(({ result }) => result !== null)),
    ({ call }) => toCallKey(call),
  );
  return async ({
    step: { audience },
    calls,
  }: Pick<TurnRound, 'step' | 'calls'>): Promise<boolean> => {
    for (const one of calls) {
      if (one.result !== null) continue;
      const known = left.get(toCallKey(one.call))?.shift()?.result;
      const found = known ?? (await runUnknown(one));
      if (found === null) throw new DivergedError(one.call);
      const { text, failed } = found;
      const foreign = known?.foreign ?? true;
      await journal.append({ kind: 'result', call: one.key, text, failed, audience, foreign });
    }
    return true;
  };
}

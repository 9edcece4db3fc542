import { ParleyError, type Reader, ResponseFormatError } from '@parley/core';
import { ModelError, type ModelFailure } from '@parley/models';
import { getStopReason, type StopReason } from '@parley/queue';
import { retryWithLessContext } from '../context/less-context.ts';
import { readHistory } from '../context/summary.ts';
import { callTools } from '../loop/call-tools.ts';
import type { FinalStep } from '../loop/turn-journal.ts';
import { TurnLimitError } from '../loop/turn-limits.ts';
import { type LoopTurn, runTurnLoop } from '../loop/turn-loop.ts';
import { SpendCapError } from '../spend.ts';
import { TurnSuspendedError } from '../tools/tool.ts';
import { buildPrompt, type OpenedTurn } from './build-prompt.ts';
import type { TurnOutcome } from './commit-answer.ts';
import {
  createPromptServices,
  type FinalNotice,
  type TurnMeans,
  type TurnServices,
} from './means.ts';
import type { TurnRun } from './run.ts';
import type { Turn } from './turn.ts';

/** Why a turn has no answer: a notice to send instead, or how the turn ended without one. */
export type NoAnswer =
  | (FinalNotice & {
      /** Set if the model gave no answer. */
      readonly failure?: ModelFailure;
    })
  | TurnOutcome;

/**
 * Answers a turn: with the journal if an earlier run had already received the answer, otherwise
 * with the model and its tools (G16).
 */
export function answerTurn(
  services: TurnServices,
  turn: Turn,
  means: TurnMeans,
  opened: OpenedTurn,
  run: TurnRun,
): Promise<FinalStep | NoAnswer> {
  const { journal, signal } = run;
  const ask = async (): Promise<FinalStep | null> => {
    if (journal.answer !== null) return journal.answer;
    const past = () => readHistory(services.store, turn, turn.reader, means.history.entries);
    const built = await buildPrompt(
      turn,
      opened,
      means,
      createPromptServices(services),
      past,
      signal,
    );
    const running = { services, turn, means, opened, run, ...built };
    // Heartbeats and sub-agents have no session to keep anything for.
    const keepGroups =
      turn.purpose.kind !== 'chat'
        ? undefined
        : (groups: readonly string[]) =>
            services.store.pins.addOpenTools(turn, groups, services.clock());
    const answerCalls: LoopTurn['answerCalls'] = (round, watch) => callTools(running, round, watch);
    const context = { ...means, store: services.store };
    return retryWithLessContext(context, turn, signal, (shorter, onRefused) =>
      runTurnLoop({
        ...{ ...running, answerCalls, keepGroups, onRefused },
        draft: { ...built.draft, ...shorter },
      }),
    );
  };
  return catchModelFailure(ask, turn.reader, signal);
}

/**
 * Returns the result of the model's work, or the reason why there is none; null if the lease was
 * lost.
 */
export async function catchModelFailure<Found>(
  work: () => Promise<Found | null>,
  reader: Reader,
  signal: AbortSignal,
): Promise<Found | NoAnswer> {
  try {
    return (await work()) ?? { outcome: 'fenced' };
  } catch (error) {
    // The turn stays unfinished, so that another run resumes it; after a stop it is already closed.
    const stop = getStopReason(signal);
    if (stop !== null) return { outcome: AFTER_STOP[stop] };
    if (error instanceof TurnSuspendedError) return { outcome: 'suspended' };
    const isOurs = [TurnLimitError, SpendCapError, ResponseFormatError].some(
      (kind) => error instanceof kind,
    );
    if (error instanceof ParleyError && isOurs)
      return { notice: error.message, reason: error.code };
    if (!(error instanceof ModelError)) throw error;
    const { failure } = error;
    return { notice: describeModelFailure(error, reader), reason: error.message, failure };
  }
}

export const AFTER_STOP: Readonly<Record<StopReason, TurnOutcome['outcome']>> = {
  stopped: 'stopped',
  'lease-lost': 'fenced',
  interrupted: 'interrupted',
  'handed-back': 'handed-back',
};

/**
 * The message to a person if the model gave no answer. Only owners read about servers, keys and
 * settings.
 */
export function describeModelFailure(error: ModelError, reader: Reader): string {
  if (reader.kind === 'owner') return error.message;
  switch (error.failure.kind) {
    case 'too-long':
      return 'This is too long for my model, even without the older part of our conversation. Please send less text at once, or start over with /new.';
    case 'filtered':
      return 'My model declined to answer this. Please put it in other words.';
    case 'rate-limited':
    case 'overloaded':
      return 'My model is overloaded right now. Please try again in a while.';
    default:
      return 'I could not get an answer from my model. Please try again later.';
  }
}

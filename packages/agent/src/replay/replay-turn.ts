import {
  type CheckRunner,
  type Clock,
  type Monotonic,
  ParleyError,
  silentLogger,
  silentMeter,
  silentTracer,
} from '@parley/core';
import type { ChatModel } from '@parley/models';
import type { InboxRow, RecordedStep } from '@parley/store';
import type { LaterMessages } from '../busy/later-messages.ts';
import { type JournalDeps, openJournal, type TurnJournal } from '../loop/turn-journal.ts';
import type { TurnLimits } from '../loop/turn-limits.ts';
import { type LoopServices, runTurnLoop } from '../loop/turn-loop.ts';
import type { TurnMeans } from '../turn/means.ts';
import { answerFromJournal, DivergedError, type RunUnknownCall } from './journal-calls.ts';
import type { ReplayedAnswer, ReplayedCall } from './outcome.ts';
import type { RebuiltTurn } from './rebuild-request.ts';
import { summarizeSteps, type TurnRecord } from './recorded-turn.ts';

/** What a replayed turn may use. There is no store, no workspace and nothing to send with. */
export interface LoopParts {
  readonly model: ChatModel;
  readonly limits: TurnLimits;
  readonly checks: CheckRunner;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Runs calls that the record does not know (`--live-reads`); without it, they end the replay. */
  readonly runUnknown?: RunUnknownCall | undefined;
}

/** How a replay ended, and what the model did until then. */
export type Replayed =
  | { readonly kind: 'answered'; readonly after: ReplayedAnswer }
  | { readonly kind: 'diverged'; readonly after: ReplayedAnswer; readonly call: ReplayedCall }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string };

/**
 * Asks a model the questions of a recorded turn again, with the loop of real turns. The journal is
 * kept in memory, calls are answered from the record, and messages that had joined the turn join it
 * again at the same step.
 */
export async function replayTurn(
  record: Pick<TurnRecord, 'turn' | 'rounds' | 'messages'>,
  { draft, tools, openGroups }: RebuiltTurn,
  parts: LoopParts,
  signal: AbortSignal,
): Promise<Replayed> {
  const { turn, rounds, messages } = record;
  const { model, limits, runUnknown } = parts;
  const steps: RecordedStep[] = [];
  const lease = { conversationId: turn.conversationId, epoch: 0 };
  const deps = { turns: keepSteps(steps), clock: parts.clock };
  const journal = openJournal({ turnId: turn.turnId, steps: [], messages }, lease, deps);
  const summarize = () => summarizeSteps(steps, model.id, messages);
  try {
    await runTurnLoop({
      ...{ turn, tools, draft, openGroups },
      services: createLoopServices(parts),
      means: createReplayMeans(model, limits, draft),
      run: { lease, signal, journal, later: joinAgain(record, journal, signal) },
      answerCalls: answerFromJournal(rounds, journal, runUnknown),
      onRefused() {},
    });
    return { kind: 'answered', after: summarize() };
  } catch (error) {
    if (error instanceof DivergedError)
      return { kind: 'diverged', after: summarize(), call: error.call };
    if (signal.aborted) return TIME_UP;
    if (!(error instanceof ParleyError)) throw error;
    return { kind: 'failed', code: error.code, reason: error.message };
  }
}

const TIME_UP: Replayed = {
  kind: 'failed',
  code: 'replay-time-up',
  reason: 'The replay took longer than its time limit, so it was ended.',
};

function keepSteps(steps: RecordedStep[]): JournalDeps['turns'] {
  return {
    async appendStep(_lease, _turnId, { index, content, timing }, storedAt) {
      steps.push({ index, content, startedAt: timing?.startedAt ?? null, storedAt });
      return 'committed';
    },
  };
}

/** The caller charges the model's calls, so an aborted one is not counted here. */
function createLoopServices({ checks, clock, monotonic }: LoopParts): LoopServices {
  return {
    ...{ checks, clock, monotonic },
    ...{ log: silentLogger, meter: silentMeter, tracer: silentTracer, checkpoint() {} },
    store: { turns: { countCutOff: async () => {} } },
  };
}

function createReplayMeans(
  model: ChatModel,
  limits: TurnLimits,
  { history }: RebuiltTurn['draft'],
): TurnMeans {
  const bus = { publish() {}, subscribe: () => () => {} };
  return { ...{ model, limits, bus, history }, sources: [], hooks: [], tools: undefined };
}

/**
 * Lets the messages that had joined the turn join it again: after the same step or, if the model
 * answers earlier than it did, before that answer.
 */
function joinAgain(
  { rounds }: Pick<TurnRecord, 'rounds'>,
  journal: TurnJournal,
  signal: AbortSignal,
): LaterMessages {
  const waiting = rounds.flatMap(({ joined }, after) =>
    joined.length > 0 ? [{ joined, after }] : [],
  );
  return {
    signal,
    beforeActing: async () => {},
    end: () => {},
    async join(answer) {
      const [next] = waiting;
      const done = journal.rounds().length - 1;
      if (next === undefined || (answer === undefined && next.after > done)) return 'none';
      waiting.shift();
      return journal.join(joinRows(next.joined), answer);
    },
  };
}

function joinRows(rows: readonly InboxRow[]): Parameters<TurnJournal['join']>[0] {
  return async (toSteps) => {
    toSteps(rows);
    return { kind: 'joined', rows };
  };
}

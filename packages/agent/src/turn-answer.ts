import { reasonOf } from '@parley/core';
import type { ModelRequest } from '@parley/models';
import type { AssembledPrompt } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import type { ApprovalGate } from './approvals/approval-gate.ts';
import type { LaterMessages } from './busy/later-messages.ts';
import { retryWithLessContext } from './context/compactor.ts';
import type { HistoryFill } from './context/history.ts';
import { readHistory } from './context/summary.ts';
import type { FinalStep, StepUsage, TurnJournal } from './loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS, turnLoop } from './loop/turn-loop.ts';
import type { TurnMedia } from './media/turn-media.ts';
import { type HeldPrompt, recordPrompt } from './record-prompt.ts';
import { accountOf } from './spend.ts';
import { turnDraft } from './turn-draft.ts';
import { type OpenedTurn, quotableIn } from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

export interface SeenTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
  readonly opened: OpenedTurn;
  readonly journal: TurnJournal;
  /** Without it, calls that need an approval are not run. */
  readonly gate?: ApprovalGate | undefined;
  readonly later?: LaterMessages | undefined;
  readonly prompt?: HeldPrompt | undefined;
}

/**
 * The answer of a turn: from its journal if an earlier run got it, else from the model and its tools
 * (G16). Null when the lease was lost. Throws ModelError, TurnLimitError, TurnSuspendedError and the
 * reason of the signal.
 */
export async function turnAnswer(
  deps: TurnServices,
  { turn, media, opened, journal, gate, later }: SeenTurn,
  signal: AbortSignal,
): Promise<FinalStep | null> {
  const { conversationId, turnId, session } = turn;
  const { facts, reader, view, messages = [], origin } = opened;
  if (journal.answer !== null) return journal.answer;
  const past = () => readHistory(deps.store, turn, reader, deps.history.entries);
  const { tools, draft } = await turnDraft(
    { ...deps, pins: deps.store.pins },
    { turn, media, opened },
    past,
    signal,
  );
  const loop = {
    ...deps,
    conversationId,
    turnId,
    journal,
    gate,
    tools,
    limits: { ...DEFAULT_TURN_LIMITS, ...deps.limits },
    at: { facts, reader, view, session, messages, ...(origin !== undefined && { origin }) },
    quotable: () => quotableIn(turn, journal.joined()),
    beforeActing: later?.beforeActing,
    joinLater: later?.join,
    maySpend: (used: StepUsage | null) => maySpend(deps, turn, opened, used),
    cutOff: (used: StepUsage) => countCutOff(deps, turn, opened, used),
    draft,
    record: (prompt: AssembledPrompt, request: ModelRequest) =>
      recordPrompt(deps, turn, { prompt, request, reader }),
    notice: (fill: HistoryFill) =>
      deps.compactor?.notice({ conversationId, session, reader }, fill),
  };
  return retryWithLessContext(deps, { conversationId, session, reader }, signal, (shorter) =>
    turnLoop({ ...loop, draft: { ...loop.draft, ...shorter } }, signal),
  );
}

/** Asks the guard before a call of the model (G17). Throws SpendCapError. */
export async function maySpend(
  deps: TurnServices,
  turn: ClaimedTurn,
  { facts, reader }: Pick<OpenedTurn, 'facts' | 'reader'>,
  used: StepUsage | null,
): Promise<void> {
  const isLinked = turn.messages.every(({ fromOwner }) => fromOwner === true);
  const byOwner = isLinked || deps.owners.includes(facts.user.id);
  const account = accountOf(facts, deps);
  await deps.spendGuard?.({ account, used, byOwner, reader, at: facts });
}

/** After a stop, when nothing can be stored with the turn any more. */
async function countCutOff(
  deps: TurnServices,
  { turnId }: ClaimedTurn,
  { facts }: OpenedTurn,
  usage: StepUsage,
): Promise<void> {
  try {
    await deps.store.turns.countCutOff(turnId, { account: accountOf(facts, deps), usage });
  } catch (error) {
    deps.log.error(
      { reason: reasonOf(error) },
      'what a stopped call has used could not be counted',
    );
  }
}

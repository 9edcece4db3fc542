import type { LiveBus, Meter, PassPoint } from '@parley/contracts';
import type { ChatModel, ModelRequest, UserMessage } from '@parley/models';
import type { AssembledPrompt } from '@parley/prompt';
import type { ClaimedTurn, Store } from '@parley/store';
import { quotableIn } from './answer/quotable-in.ts';
import type { FinalStep, StepUsage } from './final-step.ts';
import type { HistoryLimits } from './history.ts';
import { type HookDeps, runBefore } from './hooks/run-hooks.ts';
import type { TurnJournal } from './loop/turn-journal.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from './loop/turn-limits.ts';
import { turnLoop } from './loop/turn-loop.ts';
import type { TurnMedia } from './media/turn-media.ts';
import { type RecordPromptDeps, recordPrompt } from './record-prompt.ts';
import { accountOf, type SpendGuard } from './spend/spend-guard.ts';
import type { OpenedTurn } from './turn-opening.ts';
import { type TurnPromptDeps, toolsOf, turnPrompt } from './turn-prompt.ts';

/** What asking the model for a turn's answer needs. */
export interface TurnAnswerDeps
  extends TurnPromptDeps,
    HookDeps,
    Pick<RecordPromptDeps, 'prompts'> {
  readonly store: Pick<Store, 'turns' | 'transcript' | 'pins'>;
  readonly model: ChatModel;
  /** Where they differ from `DEFAULT_TURN_LIMITS`. */
  readonly limits?: Partial<TurnLimits>;
  readonly history: HistoryLimits;
  /** Without it nothing is capped (G17). */
  readonly spendGuard?: SpendGuard;
  readonly bus: LiveBus;
  readonly meter: Meter;
  readonly pass: PassPoint;
}

/** A turn, what came with its messages, and for whom it runs. */
export interface SeenTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
  readonly opened: OpenedTurn;
  readonly journal: TurnJournal;
}

/**
 * The answer of a turn: from its journal when an earlier run had got it, else from the model and its
 * tools (G16). Null when the lease was lost meanwhile. Throws ModelError and TurnLimitError, and
 * whatever the signal fires with.
 */
export async function turnAnswer(
  deps: TurnAnswerDeps,
  { turn, media, opened, journal }: SeenTurn,
  signal: AbortSignal,
): Promise<FinalStep | null> {
  const { conversationId, turnId, session } = turn;
  const { facts, reader, view, messages = [] } = opened;
  if (journal.answer !== null) return journal.answer;
  const additions = await runBefore(deps, opened, signal);
  // Once: servers come and go, and the model is told of exactly those tools that it is offered.
  const tools = toolsOf(deps, reader);
  const [prompt, transcript] = await Promise.all([
    turnPrompt(turn, deps, { opened, additions, tools }),
    deps.store.transcript.recent(conversationId, session, deps.history.entries),
  ]);
  const now = wordsOf(opened, media, turn);
  const loop = {
    ...deps,
    conversationId,
    turnId,
    journal,
    tools,
    limits: { ...DEFAULT_TURN_LIMITS, ...deps.limits },
    at: { facts, reader, view, session, messages },
    quotable: quotableIn(turn),
    maySpend: (used: StepUsage | null) => maySpend(deps, turn, opened, used),
    draft: { prompt, transcript, history: deps.history, now },
    record: (sent: AssembledPrompt, request: ModelRequest) =>
      recordPrompt(deps, turn, sent, request),
  };
  return turnLoop(loop, signal);
}

async function maySpend(
  { spendGuard, agent, owners, clock }: TurnAnswerDeps,
  turn: ClaimedTurn,
  { facts, reader }: OpenedTurn,
  used: StepUsage | null,
): Promise<void> {
  const isLinked = turn.messages.every(({ fromOwner }) => fromOwner === true);
  const byOwner = isLinked || owners.includes(facts.user.id);
  await spendGuard?.({ account: accountOf(facts, agent, clock), used, byOwner, reader });
}

/** What the people wrote and sent. */
function wordsOf({ text }: OpenedTurn, media: TurnMedia, turn: ClaimedTurn): UserMessage {
  return {
    role: 'user',
    content: text,
    said: turn.messages.map(({ message }) => message.text).join('\n'),
    ...(media.images.length > 0 && { images: media.images }),
    ...(media.attached.length > 0 && { attached: media.attached }),
  };
}

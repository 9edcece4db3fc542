import type { LiveBus, Meter, PassPoint } from '@parley/contracts';
import type { ChatModel, UserMessage } from '@parley/models';
import type { ClaimedTurn, Lease, Store } from '@parley/store';
import { askModel } from './ask-model.ts';
import { answeredBefore, type FinalStep } from './final-step.ts';
import { type HistoryLimits, modelMessages, textOf } from './history.ts';
import type { TurnMedia } from './media/turn-media.ts';
import { type RecordPromptDeps, recordPrompt } from './record-prompt.ts';
import { type TurnPromptDeps, turnPrompt } from './turn-prompt.ts';

/** What asking the model for a turn's answer needs. */
export interface TurnAnswerDeps extends TurnPromptDeps, Pick<RecordPromptDeps, 'prompts'> {
  readonly store: Pick<Store, 'turns' | 'transcript' | 'pins'>;
  readonly model: ChatModel;
  readonly history: HistoryLimits;
  readonly bus: LiveBus;
  readonly meter: Meter;
  readonly pass: PassPoint;
}

/** A turn and what came with its messages. */
export interface SeenTurn {
  readonly turn: ClaimedTurn;
  readonly media: TurnMedia;
}

/**
 * The answer of a turn: from its journal when an earlier run had got it, else from the model (G16).
 * Null when the lease was lost meanwhile. Throws ModelError, also when the signal fires.
 */
export async function turnAnswer(
  deps: TurnAnswerDeps,
  { turn, media }: SeenTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<FinalStep | null> {
  const { conversationId, turnId } = turn;
  const before = answeredBefore(turn.steps);
  if (before !== null) return before;
  const [prompt, transcript] = await Promise.all([
    turnPrompt(turn, deps),
    deps.store.transcript.recent(conversationId, turn.session, deps.history.entries),
  ]);
  const context = prompt.userContext.map((part) => part.text);
  const now: UserMessage = {
    role: 'user',
    content: [...context, textOf(turn.messages, media.forModel)].join('\n\n'),
    ...(media.images.length > 0 && { images: media.images }),
    ...(media.attached.length > 0 && { attached: media.attached }),
  };
  const request = {
    system: prompt.system,
    messages: modelMessages(transcript, now, deps.history),
  };
  recordPrompt(deps, turn, prompt, request);
  deps.pass('model-called');
  const onText = (text: string): void =>
    deps.bus.publish({ type: 'turn-delta', conversationId, turnId, text });
  const answer = await askModel(deps.model, request, { ...deps, onText }, signal);
  const step = { index: turn.steps.length, content: answer };
  const journalled = await deps.store.turns.appendStep(lease, turnId, step, deps.clock());
  return journalled === 'committed' ? answer : null;
}

import { setImmediate } from 'node:timers/promises';
import type { LiveEvent } from '@parley/contracts';
import { renderInSteps } from '@parley/markup';
import { ModelError } from '@parley/models';
import { type RunTurn, type StopReason, stopReasonOf } from '@parley/queue';
import type { ClaimedTurn, Lease, NewPart, Store, TurnCommit } from '@parley/store';
import { failureWords, GAVE_UP, NOTHING_TO_SHOW } from './failure-words.ts';
import type { FinalStep } from './final-step.ts';
import { spoken, textOf } from './history.ts';
import type { MediaDeps } from './media/read-attachment.ts';
import { readTurnMedia, unseenMedia } from './media/turn-media.ts';
import { type SeenTurn, type TurnAnswerDeps, turnAnswer } from './turn-answer.ts';
import { leadingMessage } from './turn-facts.ts';
import { turnReader } from './turn-prompt.ts';

/** Everything a turn works with; built once per worker. */
export interface TurnRunnerDeps extends TurnAnswerDeps {
  readonly store: Pick<Store, 'lanes' | 'turns' | 'transcript' | 'attachments' | 'pins'>;
  readonly media: MediaDeps;
  /** Wakes the delivery of a chat. */
  readonly deliver: (channel: string, account: string, chatId: string) => Promise<void>;
}

/** A turn that was begun this often and never ended probably kills its worker: give up and say so. */
const MAX_ATTEMPTS = 5;

type Outcome = Extract<LiveEvent, { type: 'turn-ended' }>['outcome'];

/** How a turn ended, and why if it failed. */
interface Ending {
  readonly outcome: Outcome;
  readonly reason?: string;
}

const AFTER_STOP: Readonly<Record<StopReason, Outcome>> = {
  stopped: 'stopped',
  'lease-lost': 'fenced',
  'handed-back': 'handed-back',
};

/**
 * Makes the function that runs one turn: prompt, model, journal, commit, delivery. It throws what is
 * no failure of the model; the turn stays unfinished then and is begun again, at most five times.
 */
export function createTurnRunner(deps: TurnRunnerDeps): RunTurn {
  return async (turn, lease, signal) => {
    const { turnId, conversationId } = turn;
    const { route, receivedAt } = leadingMessage(turn);
    const startedAt = deps.clock();
    deps.meter.observe('parley_inbox_wait_seconds', startedAt - receivedAt);
    deps.bus.publish({ type: 'turn-started', conversationId, turnId, route });
    let ending: Ending = { outcome: 'handed-back' };
    try {
      ending = await answerTurn(deps, turn, lease, signal);
    } finally {
      const { outcome } = ending;
      deps.bus.publish({ type: 'turn-ended', conversationId, turnId, outcome });
      deps.meter.observe('parley_turn_seconds', deps.clock() - startedAt, { outcome });
    }
    const facts = { conversation: conversationId, turn: turnId, ms: deps.clock() - startedAt };
    if (ending.outcome === 'failed') deps.log.warn({ ...facts, ...ending }, 'turn failed');
    else deps.log.info({ ...facts, ...ending }, 'turn');
    if (ending.outcome === 'answered' || ending.outcome === 'failed') {
      await deps.deliver(route.channel, route.account, route.chatId);
    }
  };
}

async function answerTurn(
  deps: TurnRunnerDeps,
  turn: ClaimedTurn,
  lease: Lease,
  signal: AbortSignal,
): Promise<Ending> {
  if (turn.attempts >= MAX_ATTEMPTS) {
    // Without a look at what came with it: that may be what kills the worker.
    const seen = { turn, media: unseenMedia() };
    return fail(deps, seen, lease, { words: GAVE_UP, reason: `begun ${turn.attempts} times` });
  }
  const reader = turnReader(turn, deps);
  const media = await readTurnMedia(deps, turn.messages, reader, signal);
  const seen = { turn, media };
  let answer: FinalStep | null;
  try {
    answer = await turnAnswer(deps, seen, lease, signal);
  } catch (error) {
    // The turn stays unfinished: after a stop it is closed already, else another run goes on with it.
    const stop = stopReasonOf(signal);
    if (stop !== null) return { outcome: AFTER_STOP[stop] };
    if (!(error instanceof ModelError)) throw error;
    const words = failureWords(error, reader);
    return fail(deps, seen, lease, { words, reason: error.message });
  }
  if (answer === null) return { outcome: 'fenced' };
  const parts = await partsOf(turn, answer.text);
  if (parts.length === 0) {
    return fail(deps, seen, lease, { words: NOTHING_TO_SHOW, reason: 'nothing to show' });
  }
  return commit(deps, lease, {
    turnId: turn.turnId,
    outcome: 'answered',
    entries: [asked(seen), spoken('assistant', answer.text)],
    // Behind the answer, whose parts may have been streamed to their places already.
    parts: [...parts, ...(await noticeOf(seen))],
    usage: answer.usage,
  });
}

async function fail(
  deps: TurnRunnerDeps,
  seen: SeenTurn,
  lease: Lease,
  { words, reason }: { readonly words: string; readonly reason: string },
): Promise<Ending> {
  const { turn } = seen;
  return commit(deps, lease, {
    turnId: turn.turnId,
    outcome: 'failed',
    reason,
    entries: [asked(seen)],
    parts: [...(await partsOf(turn, `⚙️ ${words}`)), ...(await noticeOf(seen))],
    usage: null,
  });
}

async function commit(deps: TurnRunnerDeps, lease: Lease, turn: TurnCommit): Promise<Ending> {
  const result = await deps.store.lanes.commit(lease, turn, deps.clock());
  if (result === 'fenced') return { outcome: 'fenced' };
  deps.pass('turn-committed');
  const { outcome, reason } = turn;
  return reason === undefined ? { outcome } : { outcome, reason };
}

/** What the person wrote and sent, as the history keeps it. */
function asked({ turn, media }: SeenTurn) {
  return spoken('user', textOf(turn.messages, media.forHistory));
}

/** What the person is told of what could not be read, whatever the model makes of it. */
async function noticeOf({ turn, media }: SeenTurn): Promise<NewPart[]> {
  return media.notice === null ? [] : partsOf(turn, `⚙️ ${media.notice}`);
}

/** In steps, so that a long answer holds up no other chat (M06). */
async function partsOf(turn: ClaimedTurn, markdown: string): Promise<NewPart[]> {
  const { route } = leadingMessage(turn);
  const bodies = await renderInSteps(markdown, route.target, setImmediate);
  return bodies.map((body) => ({ route, body }));
}

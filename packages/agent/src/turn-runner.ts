import {
  agentOfConversation,
  nextAttempt,
  ParleyError,
  type Reader,
  type ReplyRoute,
  ResponseFormatError,
  type Runtime,
  reasonOf,
  reasonToGiveUp,
} from '@parley/core';
import { ModelError, type ModelFailure } from '@parley/models';
import { type LaneLease, type RunTurn, type StopReason, stopReasonOf } from '@parley/queue';
import type { ClaimedTurn, InboxRow } from '@parley/store';
import { openGate } from './approvals/approval-gate.ts';
import { type LaterMessages, openLaterMessages } from './busy/later-messages.ts';
import { clientInstructions } from './client-request.ts';
import { askedToCompact } from './context/compactor.ts';
import {
  type Ending,
  failureText,
  GAVE_UP,
  giveAnswer,
  giveNotice,
  giveUp,
  keepStopped,
  seenOf,
} from './end-turn.ts';
import { keepQuestion } from './keep-question.ts';
import { asStarted, type FinalStep, openJournal } from './loop/turn-journal.ts';
import { TurnLimitError } from './loop/turn-limits.ts';
import { readTurnMedia, unseenMedia } from './media/turn-media.ts';
import { answerByVoice } from './media/voice-answer.ts';
import { modelNotice } from './model-notice.ts';
import { holdPrompt } from './record-prompt.ts';
import { accountOfTurn, SpendCapError } from './spend.ts';
import { TurnSuspendedError } from './tools/tool.ts';
import { type SeenTurn, turnAnswer } from './turn-answer.ts';
import { runAfter, type TurnClosing } from './turn-hooks.ts';
import {
  leadingMessage,
  openTurn,
  quotableIn,
  responseFormatOf,
  textOf,
  turnReader,
} from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

/** `closing`: for the hooks; absent where the model was not asked. */
interface Ended extends Ending {
  readonly closing?: Pick<TurnClosing, 'facts' | 'reader' | 'view' | 'text' | 'answer'>;
}

const AFTER_STOP: Readonly<Record<StopReason, Ending['outcome']>> = {
  stopped: 'stopped',
  'lease-lost': 'fenced',
  interrupted: 'interrupted',
  'handed-back': 'handed-back',
};

/**
 * Runs one turn: prompt, model, journal, commit, delivery. Throws anything but a failure of the model;
 * the turn then stays unfinished and is started again, as often as `nextAttempt` allows.
 */
export function createTurnRunner(options: TurnServices): RunTurn {
  const deps: TurnServices = { sentParts: new WeakMap(), ...options };
  return async (turn, lease, signal) => {
    const { turnId, conversationId } = turn;
    const started = asStarted(turn);
    const { message, route, receivedAt } = leadingMessage(started);
    const startedAt = deps.monotonic();
    deps.pass('turn-claimed');
    deps.meter.observe('parley_inbox_wait_seconds', Math.max(0, deps.clock() - receivedAt));
    const shown = {
      ...(route.acknowledge === undefined ? {} : { messageId: message.messageId }),
      ...alsoAnswered(started),
    };
    deps.bus.publish({ type: 'turn-started', conversationId, turnId, route, ...shown });
    let ended: Ended = { outcome: 'handed-back' };
    try {
      ended = await answerTurn(withChosenModel(deps, turn), turn, lease, signal);
    } finally {
      const { outcome } = ended;
      deps.bus.publish({ type: 'turn-ended', conversationId, turnId, outcome });
      deps.meter.observe('parley_turn_seconds', deps.monotonic() - startedAt, { outcome });
    }
    const { closing, fresh, ...ending } = ended;
    const facts = { conversation: conversationId, turn: turnId, ms: deps.monotonic() - startedAt };
    if (ending.outcome === 'failed') deps.log.warn({ ...facts, ...ending }, 'turn failed');
    else deps.log.info({ ...facts, ...ending }, 'turn');
    if (ending.outcome === 'answered' || ending.outcome === 'failed') {
      await deps.deliver(route.channel, route.account, route.chatId, fresh);
    }
    await dropViewOnce(deps, started);
    deps.compactor?.afterTurn(conversationId);
    if (closing === undefined) return;
    if (closing.answer !== '' && responseFormatOf(turn, deps.agent) === undefined)
      await answerByVoice(deps, turn, closing.answer, signal);
    await callHooks(deps, ending, closing);
  };
}

/** What may be seen once goes with its turn; where that fails, the sweep of old attachments does it. */
async function dropViewOnce({ store, log }: TurnServices, { messages }: ClaimedTurn) {
  const hasSome = messages.some(({ message }) => message.attachments?.some((one) => one.viewOnce));
  if (!hasSome) return;
  await store.attachments.forgetViewOnce().catch((thrown: unknown) => {
    log.warn({ reason: reasonOf(thrown) }, 'view-once files were not dropped; it is tried again');
  });
}

/** The commands before the message to which the answer goes. */
function alsoAnswered({ messages }: ClaimedTurn): { readonly alsoAnswered?: ReplyRoute[] } {
  const earlier = messages.slice(0, -1).map(({ route }) => route);
  const waiting = earlier.filter(({ response }) => response !== undefined);
  return waiting.length === 0 ? {} : { alsoAnswered: waiting };
}

/** With the model that was chosen in the conversation; one that the settings no longer know does not count. */
function withChosenModel(deps: TurnServices, { model }: ClaimedTurn): TurnServices {
  const chosen = model ? deps.modelChoices?.get(model) : undefined;
  if (chosen === undefined) return deps;
  return { ...deps, model: chosen.model, contextTokens: chosen.contextTokens };
}

async function answerTurn(
  deps: TurnServices,
  claimed: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<Ended> {
  const turn = asStarted(claimed);
  const account = () => accountOfTurn(turn, deps);
  const { prompts, log, store, clock } = deps;
  const prompt = prompts && holdPrompt(prompts, store.turns, log);
  const turns = prompt?.turns ?? store.turns;
  const journal = openJournal(claimed, lease, { turns, clock, account, answerWithCommit: true });
  const hopeless = whyHopeless(deps, turn);
  if (hopeless !== null) {
    // Its attachments are not read: they may be what kills the worker.
    const seen = { turn, media: unseenMedia(), journal };
    return giveUp(deps, seen, lease, hopeless);
  }
  const later = openLaterMessages(deps, { turn, journal }, lease, signal);
  try {
    const ended = await answerUnlessStopped(deps, { turn, journal, later, prompt }, lease);
    // The commit was refused because a later message had ended the turn.
    const isInterrupted = stopReasonOf(later.signal) === 'interrupted';
    return ended.outcome === 'fenced' && isInterrupted ? { outcome: 'interrupted' } : ended;
  } finally {
    later.end();
    prompt?.end();
  }
}

/** Why a turn is not answered, however often it is started; null: it can be. */
export function whyHopeless(
  { unavailable }: Pick<TurnServices, 'unavailable'>,
  { attempts, hangs = 0 }: Pick<ClaimedTurn, 'attempts' | 'hangs'>,
): { readonly notice: string; readonly reason: string } | null {
  if (unavailable !== undefined) return unavailable;
  // It probably kills its process: give up and say so.
  const ends = { hangs, deaths: attempts };
  return nextAttempt(ends) === 'run' ? null : { notice: GAVE_UP, reason: reasonToGiveUp(ends) };
}

async function answerUnlessStopped(
  deps: TurnServices,
  answerable: Answerable,
  lease: LaneLease,
): Promise<Ended> {
  const { turn, later } = answerable;
  const asked = await askedToCompact(deps, turn, later.signal);
  if (asked === 'stopped') {
    return { outcome: AFTER_STOP[stopReasonOf(later.signal) ?? 'handed-back'] };
  }
  if (asked === null) return answerMessages(deps, answerable, lease);
  const { notice, rest } = asked;
  if (rest === null) return giveNotice(deps, turn, lease, notice);
  return answerMessages(deps, { ...answerable, turn: rest, notice }, lease);
}

/** A turn whose commands have run; `notice`: their results for the person. */
interface Answerable extends Pick<SeenTurn, 'turn' | 'journal' | 'prompt'> {
  readonly later: LaterMessages;
  readonly notice?: string;
}

async function answerMessages(
  base: TurnServices,
  { turn, journal, later, prompt, notice }: Answerable,
  lease: LaneLease,
): Promise<Ended> {
  const { signal } = later;
  const deps = prompt === undefined ? base : { ...base, prompts: prompt.prompts };
  const reader = turnReader(turn, deps);
  const read = await readTurnMedia(deps, turn.messages, reader, signal);
  const { media } = withNotice({ media: read }, notice ?? null);
  const before = (row: InboxRow) => [...clientInstructions(row, reader), ...media.forModel(row)];
  const opened = await openTurn(turn, textOf(turn.messages, before), deps);
  const gate = deps.approvals && openGate({ ...deps, ...deps.approvals }, turn, lease);
  let shown = '';
  const seen = {
    ...{ turn, media, opened, journal, gate, later, prompt },
    shown: (text: string) => {
      shown = text;
    },
  };
  const { identity: _identity, ...closing } = opened;
  const answer = await answerOrFailure(deps, seen, signal);
  if ('outcome' in answer) {
    if (answer.outcome === 'stopped') await keepStopped(deps, seen, shown);
    return answer;
  }
  if ('notice' in answer) {
    const kept = await keepQuestion(deps, seen, lease, answer);
    if (kept !== null) return kept;
  }
  await rememberAsked(deps, seen);
  if ('notice' in answer) {
    return { ...(await giveUp(deps, seen, lease, answer)), closing: { ...closing, answer: '' } };
  }
  const changed = answer.isJson === true ? null : await modelNotice(deps, seen);
  const told = withNotice(seen, changed);
  const ending = await giveAnswer(deps, told, lease, answer);
  const heard = seenOf(answer, quotableIn(turn, journal.joined()));
  const said = ending.outcome === 'answered' && heard.kind === 'says' ? heard.text : '';
  return { ...ending, closing: { ...closing, answer: said } };
}

/** A turn with one more notice beside its answer. */
function withNotice<Seen extends Pick<SeenTurn, 'media'>>(seen: Seen, notice: string | null): Seen {
  if (notice === null) return seen;
  const notices = [notice, seen.media.notice].filter((text) => text !== null);
  return { ...seen, media: { ...seen.media, notice: notices.join('\n\n') } };
}

/** Before the commit: after a crash between the two it runs again, which changes nothing. */
async function rememberAsked(
  { memory }: TurnServices,
  { turn, journal, opened: { facts, reader, view, messages: startedWith = [] } }: SeenTurn,
): Promise<void> {
  const { chatType, date } = facts;
  const messages = [...startedWith, ...journal.joined().map(({ message }) => message)];
  await memory?.saveAsked(view, { reader, chatType, session: turn.session, date, messages });
}

/** `notice` for the person instead of an answer, or how the turn ended without either. */
export type NoAnswer =
  | {
      readonly notice: string;
      readonly reason: string;
      /** The model gave no answer. */
      readonly failure?: ModelFailure;
    }
  | Ending;

/** The answer of a turn, or why there is none. */
export async function answerOrFailure(
  deps: TurnServices,
  seen: SeenTurn,
  signal: AbortSignal,
): Promise<FinalStep | NoAnswer> {
  return orFailure(() => turnAnswer(deps, seen, signal), seen.opened.reader, signal);
}

/** The result of work with the model (null: the lease was lost), or why there is none. */
export async function orFailure<Found>(
  work: () => Promise<Found | null>,
  reader: Reader,
  signal: AbortSignal,
): Promise<Found | NoAnswer> {
  try {
    return (await work()) ?? { outcome: 'fenced' };
  } catch (error) {
    // The turn stays unfinished: after a stop it is closed already, else another run resumes it.
    const stop = stopReasonOf(signal);
    if (stop !== null) return { outcome: AFTER_STOP[stop] };
    if (error instanceof TurnSuspendedError) return { outcome: 'suspended' };
    const isOurs = [TurnLimitError, SpendCapError, ResponseFormatError].some(
      (kind) => error instanceof kind,
    );
    if (error instanceof ParleyError && isOurs)
      return { notice: error.message, reason: error.code };
    if (!(error instanceof ModelError)) throw error;
    const { failure } = error;
    return { notice: failureText(error, reader), reason: error.message, failure };
  }
}

/** Only of committed turns; a later run calls the hooks of all others. */
async function callHooks(
  deps: TurnServices,
  { outcome }: Ending,
  closing: NonNullable<Ended['closing']>,
): Promise<void> {
  if (outcome === 'answered' || outcome === 'silent') {
    await runAfter(deps, { ...closing, outcome: 'answered' });
  } else if (outcome === 'failed') await runAfter(deps, { ...closing, outcome });
}

/** Counts each turn of a lane, and runs it as a span in the trace of its first message. */
export function withTraces(
  { meter, tracer, clock }: Pick<Runtime, 'meter' | 'tracer' | 'clock'>,
  run: RunTurn,
  defaultAgent = 'main',
): RunTurn {
  return (turn, lease, signal) => {
    const [first] = turn.messages;
    const parent = first?.trace;
    const agent = agentOfConversation(turn.conversationId) ?? defaultAgent;
    meter.count('parley_lane_turns_total', { run: turn.resumed ? 'again' : 'first', agent });
    if (first !== undefined && !turn.resumed) {
      tracer.past('parley.lane', { parent }, first.receivedAt, clock());
    }
    const facts = { messages: turn.messages.length, attempt: turn.attempts + 1 };
    return tracer.span('parley.turn', { parent, facts }, () => run(turn, lease, signal));
  };
}

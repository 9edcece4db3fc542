import {
  decideNextAttempt,
  describeCrashes,
  getConversationAgent,
  type Runtime,
  reasonOf,
} from '@parley/core';
import { getStopReason, type LaneLease, type RunTurn } from '@parley/queue';
import type { ClaimedTurn } from '@parley/store';
import { openGate } from '../approvals/approval-gate.ts';
import { openLaterMessages } from '../busy/later-messages.ts';
import { runCompactCommand } from '../context/compactor.ts';
import { openJournal } from '../loop/turn-journal.ts';
import { createEmptyTurnMedia, readTurnMedia } from '../media/turn-media.ts';
import { answerByVoice } from '../media/voice-answer.ts';
import { AFTER_STOP, answerTurn } from './answer-turn.ts';
import { type OpenedTurn, openTurn } from './build-prompt.ts';
import {
  commitAnswer,
  commitFailure,
  commitNotice,
  renderVisibleAnswer,
  savePartialAnswer,
  type TurnOutcome,
} from './commit-answer.ts';
import { createChatMeans, type FinalNotice, type TurnServices } from './means.ts';
import { createModelNotice } from './model-notice.ts';
import { postponeTurn } from './put-off.ts';
import { deferPromptRecord } from './record-prompt.ts';
import type { TurnRun } from './run.ts';
import { CHAT, startTurn, type Turn } from './turn.ts';
import { runAfterHooks, type TurnClosing } from './turn-hooks.ts';
import { listQuotableMessages } from './turn-text.ts';

/** `closing` is for the hooks; absent if the model was not called. */
interface CompletedTurn extends TurnOutcome {
  readonly closing?: Omit<TurnClosing, 'outcome'>;
}

/**
 * Runs one turn of a chat: prompt, model, journal, commit, delivery. Throws any error that is not a
 * model failure; the turn then stays unfinished and is restarted as long as `planNextAttempt` allows.
 */
export function createTurnRunner(options: TurnServices): RunTurn {
  const services: TurnServices = { sentParts: new WeakMap(), ...options };
  return async (claimed, lease, signal) => {
    const { bus, meter, monotonic } = services;
    const { turnId, conversationId } = claimed;
    const turn = startTurn(claimed, CHAT, services, services.clock());
    const startedAt = monotonic();
    publishTurnStart(services, turn, claimed.resumed);
    let ended: CompletedTurn = { outcome: 'handed-back' };
    try {
      ended = await runTurn(services, turn, claimed, lease, signal);
    } finally {
      const { outcome } = ended;
      bus.publish({ type: 'turn-ended', conversationId, turnId, outcome });
      meter.observe('parley_turn_seconds', monotonic() - startedAt, { outcome });
    }
    const { closing, fresh, ...ending } = ended;
    const facts = { conversation: conversationId, turn: turnId, ms: monotonic() - startedAt };
    if (ending.outcome === 'failed') services.log.warn({ ...facts, ...ending }, 'turn failed');
    else services.log.info({ ...facts, ...ending }, 'turn');
    await finishTurn(services, turn, ended, signal);
  };
}

function publishTurnStart(
  services: TurnServices,
  { lead, route, messages, ...turn }: Turn,
  isResumed: boolean,
): void {
  const { bus, meter, clock } = services;
  const { turnId, conversationId } = turn;
  services.checkpoint('turn-claimed');
  // A resumed turn has been waiting for a process or a person.
  if (!isResumed)
    meter.observe('parley_inbox_wait_seconds', Math.max(0, clock() - lead.receivedAt));
  // The platform waits for a response to each command before the leading message.
  const alsoAnswered = messages
    .slice(0, -1)
    .flatMap((row) => (row.route.response === undefined ? [] : [row.route]));
  bus.publish({
    ...{ type: 'turn-started', conversationId, turnId, route },
    ...(route.acknowledge !== undefined && { messageId: lead.message.messageId }),
    ...(alsoAnswered.length > 0 && { alsoAnswered }),
  });
}

async function runTurn(
  services: TurnServices,
  turn: Turn,
  claimed: ClaimedTurn,
  lease: LaneLease,
  signal: AbortSignal,
): Promise<CompletedTurn> {
  const { store, prompts, clock, log } = services;
  const prompt = prompts && deferPromptRecord(prompts, store.turns, log);
  const turns = prompt?.turns ?? store.turns;
  const { account } = turn;
  const journal = openJournal(claimed, lease, { turns, clock, account, answerWithCommit: true });
  const reason = findExhaustedReason(services, turn);
  if (reason !== null) {
    // The attachments are not read, because one of them may be what crashes the worker.
    const run = { lease, signal, journal };
    return commitFailure(
      services,
      { turn, run, media: createEmptyTurnMedia(), notices: [] },
      reason,
    );
  }
  const later = openLaterMessages(services, turn, journal, lease, signal);
  const run = { lease, signal: later.signal, journal, later, prompt };
  try {
    const ended = await answerMessages(services, turn, claimed, run);
    // If a later message ended the turn, the commit was refused.
    const isInterrupted = getStopReason(later.signal) === 'interrupted';
    return ended.outcome === 'fenced' && isInterrupted ? { outcome: 'interrupted' } : ended;
  } finally {
    later.end();
    prompt?.end();
  }
}

/** Why a turn cannot be answered by another attempt; null if it can. */
export function findExhaustedReason(
  { unavailable }: Pick<TurnServices, 'unavailable'>,
  { attempts, hangs = 0 }: Pick<Turn, 'attempts' | 'hangs'>,
): FinalNotice | null {
  if (unavailable !== undefined) return unavailable;
  // The turn probably crashes its process, so it is not restarted.
  const ends = { hangs, deaths: attempts };
  return decideNextAttempt(ends) === 'run'
    ? null
    : { notice: GAVE_UP, reason: describeCrashes(ends) };
}

const GAVE_UP =
  'Something went wrong each time I tried to answer this, and I have given up on it. Please ask again; the log shows the error.';

/** Runs `/compact` first if a message asks for it, then answers the rest. */
async function answerMessages(
  services: TurnServices,
  turn: Turn,
  claimed: ClaimedTurn,
  run: TurnRun,
): Promise<CompletedTurn> {
  const compacted = await runCompactCommand(services.compactor, turn, run.signal);
  if (compacted === null) return answerChat(services, turn, run, []);
  if (compacted === 'stopped') {
    return { outcome: AFTER_STOP[getStopReason(run.signal) ?? 'handed-back'] };
  }
  const { notice, rest } = compacted;
  if (rest.length === 0) return commitNotice(services, { turn, run }, notice);
  const others = startTurn({ ...claimed, messages: rest }, CHAT, services, services.clock());
  return answerChat(services, others, run, [notice]);
}

async function answerChat(
  services: TurnServices,
  turn: Turn,
  started: TurnRun,
  earlier: readonly string[],
): Promise<CompletedTurn> {
  const { lease, signal, journal } = started;
  const { approvals } = services;
  const means = createChatMeans(services, turn);
  const reading = { ...services, contextTokens: means.contextTokens };
  const media = await readTurnMedia(reading, turn.messages, turn.reader, signal);
  const opened = await openTurn(turn, services, media);
  let shown = '';
  const run = {
    ...started,
    gate: approvals && openGate({ ...services, ...approvals }, turn, lease),
    onShown: (text: string): void => {
      shown = text;
    },
  };
  const answer = await answerTurn(services, turn, means, opened, run);
  const notices = [...earlier, ...(media.notice === null ? [] : [media.notice])];
  const ending = { turn, run, media, notices };
  if ('outcome' in answer) {
    if (answer.outcome === 'stopped') await savePartialAnswer(services, ending, shown);
    return answer;
  }
  if ('notice' in answer) {
    const later = await postponeTurn(services, turn, lease, answer);
    if (later !== null) return later;
  }
  await saveRequestedMemories(services, turn, opened, run);
  const { facts, reader, view, text, messages } = opened;
  const closing = { facts, reader, view, text, messages, answer: '' };
  if ('notice' in answer) return { ...(await commitFailure(services, ending, answer)), closing };
  const changed = answer.isJson === true ? null : await createModelNotice(services, turn, journal);
  const all = changed === null ? notices : [changed, ...notices];
  const ended = await commitAnswer(services, { ...ending, notices: all }, answer);
  const seen = renderVisibleAnswer(answer, listQuotableMessages(turn, journal.joined()));
  const said = ended.outcome === 'answered' && seen.kind === 'says' ? seen.text : '';
  return { ...ended, closing: { ...closing, answer: said } };
}

/**
 * Saves the requested memories before the commit. After a crash between the two, this code runs
 * again and changes nothing.
 */
async function saveRequestedMemories(
  { memory }: TurnServices,
  { session, reader, facts: { chatType, date } }: Turn,
  opened: OpenedTurn,
  { journal }: TurnRun,
): Promise<void> {
  const messages = [...opened.messages, ...journal.joined().map(({ message }) => message)];
  await memory?.saveAsked(opened.view, { reader, chatType, session, date, messages });
}

async function finishTurn(
  services: TurnServices,
  turn: Turn,
  { outcome, fresh, closing }: CompletedTurn,
  signal: AbortSignal,
): Promise<void> {
  const { channel, account, chatId } = turn.route;
  if (outcome === 'answered' || outcome === 'failed') {
    await services.deliver(channel, account, chatId, fresh);
  }
  await deleteViewOnceFiles(services, turn);
  services.compactor?.afterTurn(turn.conversationId);
  if (closing === undefined) return;
  if (closing.answer !== '' && turn.format === undefined)
    await answerByVoice(services, turn, closing.answer, signal);
  // Hooks run for committed turns only; otherwise a later run will call them.
  if (outcome === 'answered' || outcome === 'silent')
    await runAfterHooks(services, { ...closing, outcome: 'answered' });
  else if (outcome === 'failed') await runAfterHooks(services, { ...closing, outcome });
}

/**
 * Deletes view-once files with their turn. If the deletion fails, the sweep of old attachments
 * deletes them.
 */
async function deleteViewOnceFiles(
  { store, log }: TurnServices,
  { messages }: Turn,
): Promise<void> {
  const hasSome = messages.some(({ message }) => message.attachments?.some((one) => one.viewOnce));
  if (!hasSome) return;
  await store.attachments.forgetViewOnce().catch((thrown: unknown) => {
    log.warn({ reason: reasonOf(thrown) }, 'view-once files could not be deleted; will retry');
  });
}

/** Counts each turn of a lane, and records it as a span in the trace of its first message. */
export function addTracing(
  { meter, tracer, clock }: Pick<Runtime, 'meter' | 'tracer' | 'clock'>,
  run: RunTurn,
  defaultAgent = 'main',
): RunTurn {
  return (turn, lease, signal) => {
    const [first] = turn.messages;
    const parent = first?.trace;
    const agent = getConversationAgent(turn.conversationId) ?? defaultAgent;
    meter.count('parley_lane_turns_total', { run: turn.resumed ? 'resumed' : 'first', agent });
    if (first !== undefined && !turn.resumed) {
      tracer.past('parley.lane', { parent }, first.receivedAt, clock());
    }
    const facts = { messages: turn.messages.length, attempt: turn.attempts + 1 };
    return tracer.span('parley.turn', { parent, facts }, () => run(turn, lease, signal));
  };
}

import {
  CheckError,
  type CheckedJson,
  type LiveToolCall,
  type ResponseFormat,
  ResponseFormatError,
} from '@parley/core';
import { ModelError, type ModelRequest, type ModelToolCall } from '@parley/models';
import { createTruncationNotice } from '../answer/long-answer.ts';
import { assertWithinBudget, type CutOffCharges, recordAbortedUsage } from '../spend.ts';
import type { OfferedTools } from '../tools/tool-set.ts';
import { isQuickToCheck } from '../tools/try-arguments.ts';
import type { TurnServices } from '../turn/means.ts';
import { recordPrompt } from '../turn/record-prompt.ts';
import type { RunningTurn } from '../turn/run.ts';
import { getAudience, type Turn } from '../turn/turn.ts';
import type { CallObserver } from './call-tools.ts';
import { canContinue, isSilentAnswer, isTruncatedText, joinTruncatedText } from './cut-answers.ts';
import {
  buildCheckedRequest,
  callModel,
  estimateAbortedUsage,
  type ModelAnswer,
} from './model-request.ts';
import { type OpenGroups, openCalledGroups } from './open-groups.ts';
import { createStepStream, getUnsentAnswer, type StepStream } from './shown-step.ts';
import { type FinalStep, type ModelStep, sumUsage, type TurnRound } from './turn-journal.ts';
import { describeReachedLimit, TurnLimitError } from './turn-limits.ts';

/** The services of the loop. None of them reaches a chat, a workspace or the history. */
export interface LoopServices
  extends Pick<TurnServices, 'clock' | 'monotonic' | 'log' | 'meter' | 'tracer' | 'checkpoint'>,
    Pick<TurnServices, 'checks' | 'spendGuard' | 'prompts' | 'sentParts'> {
  readonly store: CutOffCharges;
}

/** A running turn, as far as the loop knows it. */
export interface LoopTurn extends Omit<RunningTurn, 'services' | 'opened'> {
  readonly services: LoopServices;
  /** Gives every call of a round its result. Returns false if the lease was lost. */
  readonly answerCalls: (round: TurnRound, watch: CallObserver) => Promise<boolean>;
  /**
   * Called with the length (in tokens) of a request that may have been refused because of its
   * length.
   */
  readonly onRefused: (tokens: number) => void;
  /**
   * Keeps tool groups open for the rest of the session. If it is absent, they are closed at the end
   * of the turn.
   */
  readonly keepGroups?: ((groups: readonly string[]) => Promise<void>) | undefined;
}

/**
 * Alternates between model calls and tool calls until the model answers (G01). Every completed step
 * is journaled, and steps already in the journal are not repeated (G16). Returns null if the lease
 * was lost. Throws ModelError, TurnLimitError, SpendCapError, ResponseFormatError,
 * TurnSuspendedError, and the abort reason of the signal.
 */
export async function runTurnLoop(running: LoopTurn): Promise<FinalStep | null> {
  const { services, turn, means, run } = running;
  const { journal, later, signal } = run;
  const startedAt = services.monotonic();
  let groups: OpenGroups = { open: running.openGroups, stored: turn.openToolGroups ?? [] };
  for (;;) {
    const unfinished = journal.rounds().at(-1);
    if (
      unfinished !== undefined &&
      !(await running.answerCalls(unfinished, createCallObserver(running)))
    )
      return null;
    const closingNow = () =>
      describeReachedLimit(
        { rounds: journal.rounds(), ms: services.monotonic() - startedAt },
        means.limits,
      );
    // Messages join after an answer, never in the middle of one.
    if (unfinished !== undefined && !isTruncatedText(unfinished.step) && closingNow() === null) {
      if ((await later?.join()) === 'fenced') return null;
    }
    const rounds = journal.rounds();
    assertRepairable(rounds);
    const closing = closingNow();
    await assertWithinBudget(services, turn, journal.uncounted());
    const opened = await openCalledGroups(running, rounds, groups);
    if (opened === null) return null;
    groups = opened;
    const answer = await runModelStep(running, rounds, closing, groups.open);
    if (answer.continues) {
      const piece = { ...createModelStep(running, answer, rounds), cut: true } as const;
      if (!(await journal.append(piece, answer.timing))) return null;
      services.checkpoint('step-journalled');
      continue;
    }
    const isFinal = answer.calls.length === 0 || closing !== null;
    if (isFinal && closing === null && answer.text.trim() !== '') {
      const step = createModelStep(running, answer, rounds);
      const joined = await later?.join({ step, timing: answer.timing });
      if (joined === 'fenced') return null;
      if (joined === 'joined') continue;
    }
    const step = isFinal
      ? await validateStep(running, answer, rounds)
      : createModelStep(running, answer, rounds);
    if (step.kind === 'answer') {
      await later?.beforeActing();
      signal.throwIfAborted();
    }
    if (!(await journal.append(step, answer.timing))) return null;
    services.checkpoint('step-journalled');
    if (step.kind === 'answer') return step;
  }
}

/**
 * Publishes tool activity. Notes from tools appear below the text of this step; the next step
 * replaces both.
 */
function createCallObserver({ turn, means, run }: LoopTurn) {
  const { conversationId, turnId, route } = turn;
  const step = run.journal.rounds().length - 1;
  return {
    show: (markdown: string): void => {
      if (route.appends === true) return;
      const text = `\n\n${markdown}`;
      means.bus.publish({ type: 'turn-delta', conversationId, turnId, step, text });
    },
    onCall: (call: LiveToolCall): void =>
      means.bus.publish({ type: 'tool-call', conversationId, turnId, ...call }),
  };
}

const NO_TOOLS: OfferedTools = { offered: [], tokens: 0 };

/** `continues` means that the model is asked for the rest of the answer. */
interface StepAnswer extends ModelAnswer {
  readonly continues: boolean;
}

async function runModelStep(
  running: LoopTurn,
  rounds: readonly TurnRound[],
  closing: string | null,
  openGroups: readonly string[],
): Promise<StepAnswer> {
  const { services, turn, means, run, draft, tools } = running;
  const { log, clock, prompts, sentParts } = services;
  const step = rounds.length;
  // If the turn's only step must be the answer, a tool call would never get a result, so no tools
  // are offered.
  const offered = closing !== null && step === 0 ? NO_TOOLS : tools.offer(openGroups);
  const appendsOnly = turn.route.appends === true;
  const full = { ...draft, rounds, tools: offered, format: turn.format, appendsOnly };
  const build = (said: string | null) =>
    buildCheckedRequest({ ...full, ...(said !== null && { closing: said }) }, turn.reader, log);
  const { request, prompt, fill } = build(closing);
  if (step === 0) {
    const recording = { prompts: run.prompt ?? prompts, model: means.model, clock, sentParts, log };
    recordPrompt(recording, turn, { prompt, request, reader: turn.reader });
    means.compactor?.notice(turn, fill);
  }
  services.checkpoint('model-called');
  const shown = createStepStream(running, rounds);
  try {
    const answer = await requestStep(running, request, shown);
    if (!isEmptyAfterTools(answer, rounds))
      return completeStep(running, answer, rounds, closing, shown);
  } catch (error) {
    const isStopped = run.signal.aborted || !(error instanceof ModelError);
    if (isStopped || error.failure.kind === 'aborted') throw error;
    if (joinTruncatedText(rounds) !== '') return finishTruncatedAnswer(running, rounds, shown);
    if (error.failure.kind !== 'empty' || !hasResults(rounds)) throw error;
  }
  log.info({ step }, 'the model sent an empty answer after its tool calls; asking again');
  const nudged = build([closing, EMPTY_NOTE].filter((text) => text !== null).join('\n\n'));
  const answer = await requestStep(running, nudged.request, shown);
  return completeStep(running, answer, rounds, closing, shown);
}

/** A text appended to the last tool result if the model's answer to that result was empty. */
const EMPTY_NOTE =
  '[From Parley, no person: your last answer was empty. Answer the person now, with what the tools have given.]';

const hasResults = (rounds: readonly TurnRound[]): boolean =>
  rounds.some(({ calls }) => calls.length > 0);

/** Some models end their turn once a tool has done its work, and do not answer the person. */
function isEmptyAfterTools({ text, calls }: ModelAnswer, rounds: readonly TurnRound[]): boolean {
  return calls.length === 0 && text.trim() === '' && hasResults(rounds);
}

async function requestStep(
  { services, turn, means, run, tools, onRefused }: LoopTurn,
  request: ModelRequest,
  shown: StepStream,
): Promise<ModelAnswer> {
  const ask = { ...services, onText: shown.push, onRestart: shown.restart };
  try {
    return await correctAnswerCalls(await callModel(means.model, request, ask, run.signal), tools);
  } catch (error) {
    const used = () => estimateAbortedUsage(means.model.id, request, shown.said());
    // Providers charge for every answer that has started. A stopped turn is charged even before the
    // answer starts.
    if (run.signal.aborted || shown.said() !== '') await recordAbortedUsage(services, turn, used());
    if (error instanceof ModelError && isPossiblyTooLong(error)) onRefused(used().inputTokens);
    throw error;
  }
}

/**
 * Replaces the calls with the forms that their tools accept, also in the facts for the timeline.
 */
async function correctAnswerCalls(
  answer: ModelAnswer,
  tools: LoopTurn['tools'],
): Promise<ModelAnswer> {
  if (answer.calls.length === 0) return answer;
  const { correctToolCall } = await import('../tools/fit-call.ts');
  const calls = answer.calls.map((call) => correctToolCall(call, tools, isQuickToCheck));
  const facts = { ...answer.timing.facts, calls: calls.map(({ name }) => name.slice(0, 80)) };
  return { ...answer, calls, timing: { ...answer.timing, facts } };
}

/** Whether a shorter request might succeed. */
function isPossiblyTooLong({ failure }: ModelError): boolean {
  return (
    failure.kind === 'too-long' || ('mayBeTooLong' in failure && failure.mayBeTooLong === true)
  );
}

/**
 * Completes a step. If the answer was cut off, a note is appended, unless the model is asked for
 * the rest.
 */
function completeStep(
  running: LoopTurn,
  answer: ModelAnswer,
  rounds: readonly TurnRound[],
  closing: string | null,
  shown: StepStream,
): StepAnswer {
  shown.settle();
  const before = joinTruncatedText(rounds);
  const text = before === '' ? answer.text : shown.said();
  const whole = { ...answer, text };
  const { characters } = running.means.limits;
  if (canContinue({ answer: whole, rounds, isClosing: closing !== null, characters })) {
    return { ...whole, continues: true };
  }
  const isFinal = answer.calls.length === 0 || closing !== null;
  const mayNote =
    running.turn.format === undefined &&
    (before + text).trim() !== '' &&
    !isSilentAnswer(before + text);
  const note = isFinal && mayNote ? createTruncationNotice(before + text, answer) : '';
  shown.push(note);
  shown.end();
  return { ...whole, text: text + note, continues: false };
}

/**
 * Ends an answer whose rest cannot be obtained: the text so far is kept, with a note that it was
 * truncated.
 */
function finishTruncatedAnswer(
  running: LoopTurn,
  rounds: readonly TurnRound[],
  shown: StepStream,
): StepAnswer {
  const { model } = running.means;
  const usage = { model: model.id, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const facts = { kind: 'model', ...usage, calls: [], ended: 'length' } as const;
  const { costUsd: _free, ...timed } = facts;
  const answer = { text: '', calls: [], usage, finishReason: 'length', cut: undefined };
  const timing = { startedAt: running.services.clock(), facts: timed };
  return completeStep(
    running,
    { ...answer, timing },
    rounds,
    'the rest of the answer could not be obtained',
    shown,
  );
}

/** How many times the model is asked again for an answer that matches the response format. */
const REPAIRS = 1;

/**
 * Throws ResponseFormatError once all repair attempts are used up. Attempts before a restart are
 * counted as well.
 */
function assertRepairable(rounds: readonly TurnRound[]): void {
  const misfits = rounds.flatMap(({ step: { misfit } }) => misfit ?? []);
  const last = misfits.at(-1);
  if (last !== undefined && misfits.length > REPAIRS) {
    throw new ResponseFormatError(
      `The model’s answer does not fit the response format, even after a second attempt, so it is not delivered: ${last}`,
    );
  }
}

/**
 * Returns the answer or, if it does not match the response format, a step that records the
 * mismatch.
 */
async function validateStep(
  running: LoopTurn,
  answer: ModelAnswer,
  rounds: readonly TurnRound[],
): Promise<FinalStep | ModelStep> {
  const { services, turn, run } = running;
  const final = createFinalStep(turn, answer, rounds);
  if (turn.format === undefined) return final;
  const checked = await checkFinalAnswer(services.checks, final.text, turn.format, run.signal);
  if ('json' in checked) return { ...final, text: checked.json, isJson: true };
  const misfit = `${BECAUSE_CUT[answer.finishReason] ?? ''}${checked.wrong}`;
  return { ...createModelStep(running, { ...answer, calls: [] }, rounds), misfit };
}

/** Explains to the model why its JSON may be truncated. */
const BECAUSE_CUT: Readonly<Record<string, string>> = {
  length: 'it was cut at the output limit of the model’s provider, so make it shorter; ',
  'content-filter': 'the content filter of the model’s provider ended it; ',
};

/**
 * Throws ResponseFormatError if the validation itself fails, because another answer would not help.
 */
async function checkFinalAnswer(
  checks: TurnServices['checks'],
  text: string,
  format: ResponseFormat,
  stop: AbortSignal,
): Promise<CheckedJson> {
  try {
    return await checks.checkAnswer(text, format, stop);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    throw new ResponseFormatError(
      `Could not check whether the model’s answer fits the response format, so it is not delivered. ${error.message} Simplify the schema: its regular expressions and its circular references.`,
    );
  }
}

function createFinalStep(
  turn: Turn,
  { text, usage, aside }: ModelAnswer,
  rounds: readonly TurnRound[],
): FinalStep {
  if (`${joinTruncatedText(rounds)}${text}`.trim() === '') throw new TurnLimitError();
  return {
    kind: 'answer',
    text: `${getUnsentAnswer(turn, rounds)}${text}`,
    usage: sumUsage([...rounds.map(({ step }) => step.usage), usage]),
    ...(aside !== undefined && { aside }),
  };
}

function createModelStep(
  { turn }: LoopTurn,
  { text, calls, usage, finishReason, aside }: ModelAnswer,
  rounds: readonly TurnRound[],
): ModelStep {
  const audience = getAudience(turn.reader);
  const isCut = calls.length > 0 && finishReason === 'length';
  const step = {
    kind: 'model',
    text,
    calls: assignCallIds(calls, rounds),
    usage,
    audience,
  } as const;
  return { ...step, ...(isCut && { cut: true }), ...(aside !== undefined && { aside }) };
}

/**
 * Some servers send the same id for all calls, or no id. Unique ids assign each result to its call.
 */
function assignCallIds(
  calls: readonly ModelToolCall[],
  rounds: readonly TurnRound[],
): ModelToolCall[] {
  const taken = new Set(rounds.flatMap(({ step }) => step.calls.map(({ id }) => id)));
  return calls.map((call, nth) => {
    const isFree = call.id !== '' && !taken.has(call.id);
    const id = isFree ? call.id : `call_${rounds.length}_${nth}`;
    taken.add(id);
    return { ...call, id };
  });
}

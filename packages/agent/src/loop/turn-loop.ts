import {
  CheckError,
  type CheckedJson,
  type LiveBus,
  type LiveToolCall,
  type Logger,
  type Meter,
  type PassPoint,
  type ResponseFormat,
  ResponseFormatError,
} from '@parley/core';
import { type ChatModel, ModelError, type ModelRequest, type ModelToolCall } from '@parley/models';
import type { AssembledPrompt } from '@parley/prompt';
import { endNote } from '../answer/long-answer.ts';
import type { QuotableMessages } from '../answer/visible-text.ts';
import type { HistoryFill } from '../context/history.ts';
import { isQuick } from '../tools/try-arguments.ts';
import { audienceOf, type CallToolsDeps, callTools } from './call-tools.ts';
import { cutBefore, isCutText, isSilent, mayContinue } from './cut-answers.ts';
import {
  type AskDeps,
  askModel,
  checkedRequest,
  cutOffUsage,
  type ModelAnswer,
  type OfferedTools,
  type RequestDraft,
} from './model-request.ts';
import { type ShownStep, showStep, unsentIn } from './shown-step.ts';
import {
  type FinalStep,
  type ModelStep,
  type Round,
  type StepUsage,
  type TimedAnswer,
  type TurnJournal,
  totalUsage,
} from './turn-journal.ts';
import { closingText, TurnLimitError, type TurnLimits } from './turn-limits.ts';

/** What the loop works with; `draft` is what each request begins with. */
export interface TurnLoopDeps extends CallToolsDeps {
  readonly conversationId: string;
  readonly limits: TurnLimits;
  /** Throws SpendCapError where the model may not be asked once more; `used`: by this turn, on no account yet. */
  readonly maySpend?: (used: StepUsage | null) => Promise<void>;
  /** Hears what a call of the model has used that was ended from outside (G17). */
  readonly cutOff?: (used: StepUsage) => Promise<void>;
  /** Hears all that people have seen of the answer so far. */
  readonly shown?: (text: string) => void;
  /** What its answer may quote, as of now. */
  readonly quotable: () => QuotableMessages;
  /** Lets messages that came meanwhile join; without it they wait for the next turn. */
  readonly joinLater?: ((answer?: TimedAnswer) => ReturnType<TurnJournal['join']>) | undefined;
  /** The JSON that the answer must be; an answer of any kind when absent. */
  readonly format?: ResponseFormat | undefined;
  readonly draft: Omit<RequestDraft, 'rounds' | 'tools' | 'closing'>;
  readonly model: ChatModel;
  readonly bus: LiveBus;
  readonly meter: Meter;
  readonly log: Logger;
  readonly pass: PassPoint;
  /** Keeps what a turn began with, for people. */
  readonly record: (prompt: AssembledPrompt, request: ModelRequest) => void;
  /** Hears how full the past is. */
  readonly notice?: (fill: HistoryFill) => void;
  /** Hears how long a request was, in tokens, that may have been refused for its length. */
  readonly refused?: (tokens: number) => void;
}

/**
 * Model, tools, model … until it answers (G01). Every step is journalled as it completes, and what the
 * journal has already is not done again (G16). Null when the lease was lost meanwhile. Throws
 * ModelError, TurnLimitError, SpendCapError and ResponseFormatError, and whatever `stop` fires with.
 */
export async function turnLoop(deps: TurnLoopDeps, stop: AbortSignal): Promise<FinalStep | null> {
  const { journal, limits, monotonic } = deps;
  const startedAt = monotonic();
  for (;;) {
    const unfinished = journal.rounds().at(-1);
    if (unfinished !== undefined && !(await callTools(showing(deps), unfinished, stop)))
      return null;
    const closingNow = () =>
      closingText({ rounds: journal.rounds(), ms: monotonic() - startedAt }, limits);
    // What joins belongs behind an answer, and not into the middle of one.
    if (unfinished !== undefined && !isCutText(unfinished.step) && closingNow() === null) {
      if ((await deps.joinLater?.()) === 'fenced') return null;
    }
    const rounds = journal.rounds();
    assertRepairable(rounds);
    const closing = closingNow();
    await deps.maySpend?.(journal.uncounted());
    const answer = await askStep(deps, rounds, closing, stop);
    if (answer.continues) {
      const piece = { ...modelStep(deps, answer, rounds), cut: true } as const;
      if (!(await journal.append(piece, answer.timing))) return null;
      deps.pass('step-journalled');
      continue;
    }
    const isFinal = answer.calls.length === 0 || closing !== null;
    if (isFinal && closing === null && answer.text.trim() !== '') {
      const step = modelStep(deps, answer, rounds);
      const joined = await deps.joinLater?.({ step, timing: answer.timing });
      if (joined === 'fenced') return null;
      if (joined === 'joined') continue;
    }
    const step = isFinal
      ? await checkedStep(deps, answer, rounds, stop)
      : modelStep(deps, answer, rounds);
    if (step.kind === 'answer') {
      await deps.beforeActing?.();
      stop.throwIfAborted();
    }
    if (!(await journal.append(step, answer.timing))) return null;
    deps.pass('step-journalled');
    if (step.kind === 'answer') return step;
  }
}

/** The notes of its tools are below the text of this step; the next step replaces both. */
function showing(deps: TurnLoopDeps): TurnLoopDeps {
  const { conversationId, turnId, bus, journal, at } = deps;
  const step = journal.rounds().length - 1;
  const show = (markdown: string): void => {
    if (at.route?.appends === true) return;
    bus.publish({ type: 'turn-delta', conversationId, turnId, step, text: `\n\n${markdown}` });
  };
  const onCall = (call: LiveToolCall): void =>
    bus.publish({ type: 'tool-call', conversationId, turnId, ...call });
  return { ...deps, at: { ...at, show }, onCall };
}

const NO_TOOLS: OfferedTools = { offered: [], tokens: 0 };

/** What the model said in one step; `continues`: it is asked for the rest. */
interface StepAnswer extends ModelAnswer {
  readonly continues: boolean;
}

async function askStep(
  deps: TurnLoopDeps,
  rounds: readonly Round[],
  closing: string | null,
  stop: AbortSignal,
): Promise<StepAnswer> {
  const { draft, tools, at, log } = deps;
  const step = rounds.length;
  // A model that could call no tool any more in its only step is not offered any.
  const offered = closing !== null && step === 0 ? NO_TOOLS : tools;
  const appendsOnly = at.route?.appends === true;
  const full = { ...draft, rounds, tools: offered, format: deps.format, appendsOnly };
  const build = (said: string | null) =>
    checkedRequest({ ...full, ...(said !== null && { closing: said }) }, at.reader, log);
  const { request, prompt, fill } = build(closing);
  if (step === 0) {
    deps.record(prompt, request);
    deps.notice?.(fill);
  }
  deps.pass('model-called');
  const shown = showStep(deps, rounds);
  try {
    const answer = await askOnce(deps, request, shown, stop);
    if (!isEmptyAfterTools(answer, rounds)) return ended(deps, answer, rounds, closing, shown);
  } catch (error) {
    const isStopped = stop.aborted || !(error instanceof ModelError);
    if (isStopped || error.failure.kind === 'aborted') throw error;
    if (cutBefore(rounds) !== '') return leftCut(deps, rounds, shown);
    if (error.failure.kind !== 'empty' || !hasResults(rounds)) throw error;
  }
  log.info({ step }, 'the model sent an empty answer after its tools; it is asked once more');
  const nudged = build([closing, EMPTY_NOTE].filter((text) => text !== null).join('\n\n'));
  const answer = await askOnce(deps, nudged.request, shown, stop);
  return ended(deps, answer, rounds, closing, shown);
}

/** Follows the last result when the answer to it was empty. */
const EMPTY_NOTE =
  '[From Parley, no person: your last answer was empty. Answer the person now, with what the tools have given.]';

const hasResults = (rounds: readonly Round[]): boolean =>
  rounds.some(({ calls }) => calls.length > 0);

/** Some models end their turn when a tool has done what they wanted, and leave the person without an answer. */
function isEmptyAfterTools({ text, calls }: ModelAnswer, rounds: readonly Round[]): boolean {
  return calls.length === 0 && text.trim() === '' && hasResults(rounds);
}

async function askOnce(
  deps: TurnLoopDeps,
  request: ModelRequest,
  shown: ShownStep,
  stop: AbortSignal,
): Promise<ModelAnswer> {
  const { clock, monotonic, meter, tracer } = deps;
  const { push: onText, restart: onRestart } = shown;
  const ask: AskDeps = { clock, monotonic, meter, tracer, onText, onRestart };
  try {
    return await fittedAnswer(await askModel(deps.model, request, ask, stop), deps.tools);
  } catch (error) {
    const used = () => cutOffUsage(deps.model.id, request, shown.said());
    // A provider charges for an answer that it started, and a question that is kept is asked again.
    if (stop.aborted || shown.said() !== '') await deps.cutOff?.(used());
    if (error instanceof ModelError && mayBeTooLong(error)) deps.refused?.(used().inputTokens);
    throw error;
  }
}

/** With the calls as their tools take them, also for those who look at the turn. */
async function fittedAnswer(
  answer: ModelAnswer,
  tools: TurnLoopDeps['tools'],
): Promise<ModelAnswer> {
  if (answer.calls.length === 0) return answer;
  const { fittedCall } = await import('../tools/fit-call.ts');
  const calls = answer.calls.map((call) => fittedCall(call, tools, isQuick));
  const facts = { ...answer.timing.facts, calls: calls.map(({ name }) => name.slice(0, 80)) };
  return { ...answer, calls, timing: { ...answer.timing, facts } };
}

/** Whether a shorter request may succeed. */
function mayBeTooLong({ failure }: ModelError): boolean {
  return (
    failure.kind === 'too-long' || ('mayBeTooLong' in failure && failure.mayBeTooLong === true)
  );
}

/** The step with a sentence about its end where the model did not end it, unless it is asked for the rest. */
function ended(
  deps: TurnLoopDeps,
  answer: ModelAnswer,
  rounds: readonly Round[],
  closing: string | null,
  shown: ShownStep,
): StepAnswer {
  shown.settle();
  const before = cutBefore(rounds);
  const text = before === '' ? answer.text : shown.said();
  const whole = { ...answer, text };
  const { characters } = deps.limits;
  if (mayContinue({ answer: whole, rounds, isClosing: closing !== null, characters })) {
    return { ...whole, continues: true };
  }
  const isFinal = answer.calls.length === 0 || closing !== null;
  const mayNote =
    deps.format === undefined && (before + text).trim() !== '' && !isSilent(before + text);
  const note = isFinal && mayNote ? endNote(before + text, answer) : '';
  shown.push(note);
  shown.end();
  return { ...whole, text: text + note, continues: false };
}

/** The end of an answer whose rest cannot be had: what there is stays, and says that it was cut. */
function leftCut(deps: TurnLoopDeps, rounds: readonly Round[], shown: ShownStep): StepAnswer {
  const { model, clock } = deps;
  const usage = { model: model.id, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const facts = { kind: 'model', ...usage, calls: [], ended: 'length' } as const;
  const { costUsd: _free, ...timed } = facts;
  const answer = { text: '', calls: [], usage, finishReason: 'length', cut: undefined };
  const timing = { startedAt: clock(), facts: timed };
  return ended(deps, { ...answer, timing }, rounds, 'the rest cannot be had', shown);
}

/** How often the model is asked again for an answer that fits the response format. */
const REPAIRS = 1;

/** Throws `ResponseFormatError` once all repairs are used up; the repairs before a restart count as well. */
function assertRepairable(rounds: readonly Round[]): void {
  const misfits = rounds.flatMap(({ step: { misfit } }) => misfit ?? []);
  const last = misfits.at(-1);
  if (last !== undefined && misfits.length > REPAIRS) {
    throw new ResponseFormatError(
      `The model’s answer does not fit the response format, also not after it was asked once more, so it is not delivered: ${last}`,
    );
  }
}

/** The answer; or, where it does not fit the response format, a step that says so. */
async function checkedStep(
  deps: TurnLoopDeps,
  answer: ModelAnswer,
  rounds: readonly Round[],
  stop: AbortSignal,
): Promise<FinalStep | ModelStep> {
  const final = finalStep(deps, answer, rounds);
  if (deps.format === undefined) return final;
  const checked = await checkedAnswer(deps.checks, final.text, deps.format, stop);
  if ('json' in checked) return { ...final, text: checked.json, isJson: true };
  const misfit = `${BECAUSE_CUT[answer.finishReason] ?? ''}${checked.wrong}`;
  return { ...modelStep(deps, { ...answer, calls: [] }, rounds), misfit };
}

/** Why JSON may lack its end. */
const BECAUSE_CUT: Readonly<Record<string, string>> = {
  length: 'it was cut at the output limit of the model’s provider, so make it shorter; ',
  'content-filter': 'the content filter of the model’s provider ended it; ',
};

/** Throws ResponseFormatError where the check cannot be carried out: another answer would change nothing. */
async function checkedAnswer(
  checks: TurnLoopDeps['checks'],
  text: string,
  format: ResponseFormat,
  stop: AbortSignal,
): Promise<CheckedJson> {
  try {
    return await checks.checkAnswer(text, format, stop);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    throw new ResponseFormatError(
      `Whether the model’s answer fits the response format is not known, so it is not delivered. ${error.message} Make the schema simpler: its regular expressions, and references that lead back to themselves.`,
    );
  }
}

function finalStep(
  deps: TurnLoopDeps,
  { text, usage, aside }: ModelAnswer,
  rounds: readonly Round[],
): FinalStep {
  if (`${cutBefore(rounds)}${text}`.trim() === '') throw new TurnLimitError();
  return {
    kind: 'answer',
    text: `${unsentIn(deps, rounds)}${text}`,
    usage: totalUsage([...rounds.map(({ step }) => step.usage), usage]),
    ...(aside !== undefined && { aside }),
  };
}

function modelStep(
  { at }: TurnLoopDeps,
  { text, calls, usage, finishReason, aside }: ModelAnswer,
  rounds: readonly Round[],
): ModelStep {
  const audience = audienceOf(at.reader);
  const isCut = calls.length > 0 && finishReason === 'length';
  const step = { kind: 'model', text, calls: named(calls, rounds), usage, audience } as const;
  return { ...step, ...(isCut && { cut: true }), ...(aside !== undefined && { aside }) };
}

/** Some servers give every call the same id, or none; results must find theirs. */
function named(calls: readonly ModelToolCall[], rounds: readonly Round[]): ModelToolCall[] {
  const taken = new Set(rounds.flatMap(({ step }) => step.calls.map(({ id }) => id)));
  return calls.map((call, nth) => {
    const isFree = call.id !== '' && !taken.has(call.id);
    const id = isFree ? call.id : `call_${rounds.length}_${nth}`;
    taken.add(id);
    return { ...call, id };
  });
}

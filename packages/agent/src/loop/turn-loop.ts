import {
  CheckError,
  type CheckedJson,
  type LiveBus,
  type LiveToolCall,
  type Logger,
  type Meter,
  ParleyError,
  type PassPoint,
  type ResponseFormat,
  ResponseFormatError,
} from '@parley/core';
import {
  type ChatModel,
  DEFAULT_ANSWER_BOUNDS,
  type ModelRequest,
  type ModelToolCall,
} from '@parley/models';
import { type AssembledPrompt, enforceAudience } from '@parley/prompt';
import { cutNote, DEFAULT_ANSWER_MESSAGES } from '../answer/long-answer.ts';
import { answerStream, type QuotableMessages } from '../answer/visible-text.ts';
import type { HistoryFill } from '../context/history.ts';
import type { CallLimits } from '../tools/tool.ts';
import { isQuick } from '../tools/try-arguments.ts';
import { audienceOf, type CallToolsDeps, callTools } from './call-tools.ts';
import {
  type AskDeps,
  askModel,
  checkedRequest,
  cutOffUsage,
  type ModelAnswer,
  type OfferedTools,
  type RequestDraft,
} from './model-request.ts';
import {
  type FinalStep,
  type ModelStep,
  type Round,
  type StepUsage,
  type TimedAnswer,
  type TurnJournal,
  totalUsage,
} from './turn-journal.ts';

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
    if (unfinished !== undefined && closingNow() === null) {
      if ((await deps.joinLater?.()) === 'fenced') return null;
    }
    const rounds = journal.rounds();
    assertRepairable(rounds);
    const closing = closingNow();
    await deps.maySpend?.(journal.uncounted());
    const answer = await askStep(deps, rounds, closing, stop);
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

async function askStep(
  deps: TurnLoopDeps,
  rounds: readonly Round[],
  closing: string | null,
  stop: AbortSignal,
): Promise<ModelAnswer> {
  const { conversationId, turnId, bus, draft, tools, at, log } = deps;
  const step = rounds.length;
  // A model that could call no tool any more in its only step is not offered any.
  const offered = closing !== null && step === 0 ? NO_TOOLS : tools;
  const full = {
    ...draft,
    rounds,
    tools: offered,
    format: deps.format,
    appendsOnly: at.route?.appends === true,
    ...(closing !== null && { closing }),
  };
  const { request, prompt, fill } = checkedRequest(full, at.reader, log);
  if (step === 0) {
    deps.record(prompt, request);
    deps.notice?.(fill);
  }
  deps.pass('model-called');
  let shownStep = step;
  const openStream = () => {
    const opened = answerStream(deps.quotable(), ({ text, replyTo }) => {
      // Whether it is the answer shows only when it has been checked, and nothing could be taken back.
      if (deps.format !== undefined && at.route?.appends === true) return;
      const quoted = replyTo === undefined ? {} : { replyToMessageId: replyTo };
      bus.publish({ type: 'turn-delta', conversationId, turnId, step: shownStep, text, ...quoted });
    });
    // It is sent together with what comes now, and precedes it.
    opened.push(unsentIn(deps, rounds));
    return opened;
  };
  let stream = openStream();
  let said = '';
  const onText = (text: string): void => {
    said += text;
    stream.push(text);
    deps.shown?.(stream.shown());
  };
  const { clock, monotonic, meter, tracer } = deps;
  // What was shown was reasoning: a step of another number replaces it.
  const onRestart = (): void => {
    shownStep += RESTARTED;
    stream = openStream();
  };
  const ask: AskDeps = { clock, monotonic, meter, tracer, onText, onRestart };
  try {
    const answer = await askModel(deps.model, request, ask, stop);
    const note = deps.format === undefined ? cutNote(answer.text, answer.cut) : '';
    if (note !== '') onText(note);
    stream.end();
    return await fittedAnswer({ ...answer, text: answer.text + note }, deps.tools);
  } catch (error) {
    // A provider charges for an answer that it started, and a question that is kept is asked again.
    if (stop.aborted || said !== '') await deps.cutOff?.(cutOffUsage(deps.model.id, request, said));
    throw error;
  }
}

/** Added to the number of a step whose text begins again; no turn has that many steps. */
const RESTARTED = 1_000_000;

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

/** The answers that other messages joined before they were sent; where nothing can be taken back, the text of each step. */
function unsentIn(
  { at: { reader, route }, format }: TurnLoopDeps,
  rounds: readonly Round[],
): string {
  const keepsAll = route?.appends === true && format === undefined;
  const answers = rounds.filter(({ calls, step }) =>
    keepsAll ? step.text.trim() !== '' : calls.length === 0 && step.misfit === undefined,
  );
  const parts = answers.map(({ step: { text, audience } }) => ({
    text,
    audience,
    source: 'answer before',
  }));
  return enforceAudience(reader, parts)
    .allowed.map(({ text }) => `${text}\n\n`)
    .join('');
}

/** How often the model is asked again for an answer that fits the response format. */
const REPAIRS = 1;

/** Also in a run that resumes the turn. Throws ResponseFormatError. */
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
  return { ...modelStep(deps, { ...answer, calls: [] }, rounds), misfit: checked.wrong };
}

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
  if (text.trim() === '') throw new TurnLimitError();
  return {
    kind: 'answer',
    text: `${unsentIn(deps, rounds)}${text}`,
    usage: totalUsage([...rounds.map(({ step }) => step.usage), usage]),
    ...(aside !== undefined && { aside }),
  };
}

function modelStep(
  { at }: TurnLoopDeps,
  { text, calls, usage, aside }: ModelAnswer,
  rounds: readonly Round[],
): ModelStep {
  const audience = audienceOf(at.reader);
  const step = { kind: 'model', text, calls: named(calls, rounds), usage, audience } as const;
  return { ...step, ...(aside !== undefined && { aside }) };
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

/** Bounds of one turn (G01). */
export interface TurnLimits extends CallLimits {
  /** Times the model is asked; the last time it has to answer. */
  readonly steps: number;
  /** After this the model is asked once more for its answer. In ms. */
  readonly turnMs: number;
  /** The same, of all steps together: tokens in and out. */
  readonly tokens: number;
  /** Messages of its answer in the chat; a longer one goes as a file. */
  readonly messages: number;
}

/** What a turn may use unless the settings say otherwise. */
export const DEFAULT_TURN_LIMITS: TurnLimits = {
  steps: 20,
  turnMs: 10 * 60_000,
  tokens: 1_000_000,
  toolMs: 60_000,
  outputCharacters: 20_000,
  calls: DEFAULT_ANSWER_BOUNDS.calls,
  messages: DEFAULT_ANSWER_MESSAGES,
};

/** What a turn has used so far. */
export interface TurnSpent {
  readonly rounds: readonly Round[];
  readonly ms: number;
}

/** Why the model has to answer now, for the model; null while it may go on with tools. */
function closingText({ rounds, ms }: TurnSpent, limits: TurnLimits): string | null {
  const reason = reachedLimit({ rounds, ms }, limits);
  if (reason === null) return null;
  return `[${reason} No more tools are run in this turn. Answer now with what you have, and say what is missing.]`;
}

function reachedLimit({ rounds, ms }: TurnSpent, limits: TurnLimits): string | null {
  if (rounds.length >= limits.steps - 1) return `All ${limits.steps} steps of this turn are used.`;
  if (ms >= limits.turnMs) return 'The time of this turn is up.';
  const tokens = rounds.reduce(
    (sum, { step: { usage } }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  return tokens >= limits.tokens ? 'This turn has used all its tokens.' : null;
}

/** The model went on with tools when it had to answer, and said nothing. For people. */
export class TurnLimitError extends ParleyError {
  constructor() {
    const message =
      'I did not come to an end within the bounds of one answer. Please ask for a smaller part, or ask me to go on.';
    super({ code: 'turn-limit', message, retryable: false });
  }
}

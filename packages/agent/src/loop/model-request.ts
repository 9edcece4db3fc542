import {
  type Clock,
  type Logger,
  type Meter,
  type Monotonic,
  type PromptPart,
  type Reader,
  type ResponseFormat,
  type StepInfo,
  silentTracer,
  type Tracer,
} from '@parley/core';
import {
  type ChatModel,
  type ExceededAnswerLimit,
  type HiddenAnswerParts,
  type ModelFinish,
  type ModelMessage,
  type ModelRequest,
  type ModelToolCall,
  OFFLINE_MODEL,
  type UserMessage,
} from '@parley/models';
import {
  type AssembledPrompt,
  enforceAudience,
  fenceContext,
  formatMessageContext,
} from '@parley/prompt';
import type { InboxRow, JournalStep, RememberedEntry, TurnUsage } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import {
  assembleHistory,
  computeHistoryBudget,
  computeRoundsBudget,
  type HistoryLimits,
  type HistoryUsage,
  listTexts,
  measureRequest,
  truncateRounds,
} from '../context/history.ts';
import { runWithTimeLimit } from '../time.ts';
import type { OfferedTools } from '../tools/tool-set.ts';
import { joinMessageTexts } from '../turn/turn-text.ts';
import { createContinuationText, isTruncatedText, joinTruncatedText } from './cut-answers.ts';
import type { JournaledCall, StepUsage, TurnRound } from './turn-journal.ts';

export type StepTiming = NonNullable<JournalStep['timing']> & {
  readonly facts: Extract<StepInfo, { kind: 'model' }>;
};

/** The services that a model call needs besides the request. */
export interface ModelCallDeps {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly meter: Meter;
  /** No spans are recorded without a tracer. */
  readonly tracer?: Tracer | undefined;
  /** Called with each new fragment of the answer. */
  onText(text: string): void;
  /**
   * Called when all text so far turns out to have been reasoning, so that the answer begins with
   * the next fragment.
   */
  onRestart?(): void;
}

/** `text` is empty only if there are calls. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: StepUsage;
  /** The finish reason, as the provider wrote it. */
  readonly finishReason: string;
  readonly cut?: ExceededAnswerLimit | undefined;
  /** Reasoning and calls that were separated from the text. */
  readonly aside?: HiddenAnswerParts | undefined;
  readonly timing: StepTiming;
}

/**
 * Calls the model and waits for the whole answer. Throws ModelError, even if the call was aborted.
 */
export async function callModel(
  model: ChatModel,
  request: ModelRequest,
  deps: ModelCallDeps,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { tracer = silentTracer, meter, monotonic } = deps;
  const startedAt = monotonic();
  let outcome = 'failed';
  try {
    return await tracer.span('parley.model', {}, async (span) => {
      const answer = await readModelStream(model, request, deps, signal);
      const { kind: _kind, calls, ...facts } = answer.timing.facts;
      span.note({ ...facts, calls: calls.length });
      outcome = 'answered';
      return answer;
    });
  } finally {
    const ended = signal.aborted ? 'stopped' : outcome;
    meter.observe('parley_model_seconds', monotonic() - startedAt, { outcome: ended });
  }
}

async function readModelStream(
  model: ChatModel,
  request: ModelRequest,
  deps: ModelCallDeps,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const [startedAt, since] = [deps.clock(), deps.monotonic()];
  const calls: ModelToolCall[] = [];
  let firstTokenMs: number | undefined;
  for await (const event of model.stream(request, signal)) {
    if (firstTokenMs === undefined) {
      firstTokenMs = deps.monotonic() - since;
      deps.meter.observe('parley_model_first_token_seconds', firstTokenMs);
    }
    if (event.type === 'text') deps.onText(event.text);
    else if (event.type === 'restart') deps.onRestart?.();
    else if (event.type === 'tool-call') calls.push(event.call);
    else {
      const { inputTokens, outputTokens, cachedInputTokens, cachedShare } = event.usage;
      deps.meter.count('parley_model_tokens_total', { direction: 'input' }, inputTokens);
      deps.meter.count('parley_model_tokens_total', { direction: 'output' }, outputTokens);
      const { text, model: answered, costUsd, finishReason, cut } = event;
      const tokens = { inputTokens, outputTokens, cachedInputTokens };
      const usage = {
        ...{ model: answered, ...tokens, costUsd },
        ...(cachedShare !== undefined && { cachedShare }),
      };
      const facts = createModelFacts(model, event, calls, firstTokenMs);
      const { aside } = event;
      return { text, calls, usage, finishReason, cut, aside, timing: { startedAt, facts } };
    }
  }
  throw new Error(
    `The model ${model.id} ended its stream without a finish event, which is a bug in its provider code.`,
  );
}

/** What the timeline records about an answer: names and numbers, never text. */
function createModelFacts(
  { id }: ChatModel,
  { model, servedModel, usage, tries, finishReason, aside }: ModelFinish,
  calls: readonly ModelToolCall[],
  firstTokenMs: number,
): Extract<StepInfo, { kind: 'model' }> {
  const answered =
    servedModel === undefined ? model : `${model.slice(0, model.indexOf('/') + 1)}${servedModel}`;
  return {
    kind: 'model',
    model: answered,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    firstTokenMs,
    ...(answered !== id && { insteadOf: id }),
    ...(tries !== undefined && { asked: tries }),
    ...((finishReason === 'length' || finishReason === 'content-filter') && {
      ended: finishReason,
    }),
    calls: calls.map(({ name }) => name.slice(0, 80)),
    ...(aside !== undefined && {
      thoughtCharacters: aside.reasoningCharacters,
      droppedCalls: aside.dropped.length,
    }),
  };
}

/**
 * Estimates the usage of a call that ended before it reported any, because the provider charges for
 * the request nevertheless. The estimate uses the request and the answer so far. The estimate
 * excludes pictures and cost: the cost is unknown because the cached share is unknown.
 */
export function estimateAbortedUsage(
  model: string,
  request: ModelRequest,
  said: string,
): StepUsage {
  const { system, messages, tools = [] } = request;
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.flatMap(listTexts),
    ...tools.map((tool) => JSON.stringify(tool)),
  ];
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { model, inputTokens, outputTokens: estimateTokens(said), costUsd: null };
}

/** Everything that a request is built from, before the audience check. */
export interface RequestDraft {
  readonly prompt: AssembledPrompt;
  readonly summary?: PromptPart | null;
  readonly transcript: readonly RememberedEntry[];
  readonly history: HistoryLimits;
  /** The model's context window, in tokens; unlimited when absent. */
  readonly contextTokens?: number | undefined;
  /** The text that people wrote, without the context that precedes it. */
  readonly now: UserMessage;
  /** The rounds of the turn so far, in which every call has a result. */
  readonly rounds: readonly TurnRound[];
  readonly tools: OfferedTools;
  /** The JSON format that the answer must have. */
  readonly format?: ResponseFormat | undefined;
  readonly appendsOnly?: boolean;
  /** Text to append to the last result. */
  readonly closing?: string;
}

/** A request and the prompt parts that it contains. */
export interface CheckedRequest {
  readonly request: ModelRequest;
  readonly prompt: AssembledPrompt;
  readonly fill: HistoryUsage;
}

const WITHHELD = '[This was meant for the owner alone and is not shown here.]';

/**
 * Builds the model request for each step of a turn. Removes content from layers, features, hooks
 * and tools that the reader may not see (W02). A part for other readers indicates a bug in the code
 * that contributed it, so it is withheld and logged.
 */
export function buildCheckedRequest(
  draft: RequestDraft,
  reader: Reader,
  log: Logger,
): CheckedRequest {
  const check = <Part extends PromptPart>(parts: readonly Part[]): readonly Part[] => {
    const { allowed, withheld } = enforceAudience(reader, parts);
    for (const { source } of withheld) {
      log.error({ source }, 'text for other readers was withheld from the model');
    }
    return allowed;
  };
  const system = check(draft.prompt.system);
  const userContext = check(draft.prompt.userContext);
  const content = [...userContext.map(({ text }) => text), draft.now.content].join('\n\n');
  const { fence } = draft.prompt;
  const done = draft.rounds.flatMap((round) => createRoundMessages(round, check, fence));
  const [summary] = check(draft.summary == null ? [] : [draft.summary]);
  const now = { ...draft.now, content };
  const past = { summary: summary?.text ?? null, entries: draft.transcript, now };
  const { tools, contextTokens = Number.POSITIVE_INFINITY } = draft;
  const without = measureRequest({ system, rounds: [], tools, now });
  const rounds = truncateRounds(done, computeRoundsBudget(contextTokens, without));
  const size = rounds.length === 0 ? without : measureRequest({ system, rounds, tools, now });
  const { messages, fill } = assembleHistory(
    past,
    computeHistoryBudget(contextTokens, size, draft.history),
  );
  const request = {
    system: system.map(({ text, stable }) => ({ text, stable })),
    messages: [...messages, ...addClosingMessage(rounds, draft.closing)],
    ...(tools.offered.length > 0 && { tools: tools.offered }),
    ...(tools.callable !== undefined && { callable: tools.callable }),
    // The rest of an answer is not valid JSON by itself, and a provider that enforces the format
    // would start over.
    ...(draft.format !== undefined &&
      joinTruncatedText(draft.rounds) === '' && { format: draft.format }),
    ...(draft.appendsOnly === true && { appendsOnly: true }),
  };
  return { request, prompt: { ...draft.prompt, system, userContext }, fill };
}

type CheckParts = (parts: readonly PromptPart[]) => readonly PromptPart[];

/**
 * Checks the permissions at each step, so that a former owner loses owner permissions even in the
 * middle of a turn.
 */
function createRoundMessages(
  { step, calls, joined }: TurnRound,
  check: CheckParts,
  fence: AssembledPrompt['fence'],
): ModelMessage[] {
  const { text, audience, misfit } = step;
  const mayStay = check([{ text, audience, source: 'model step' }]).length > 0;
  const toolCalls = calls.map(({ call }) => (mayStay ? call : { ...call, arguments: '{}' }));
  // An assistant message without calls must not be empty.
  const content = mayStay ? text : calls.length === 0 ? WITHHELD : '';
  return [
    { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) },
    ...calls.map((call) => createToolMessage(call, check)),
    ...(misfit === undefined ? [] : [createRepairMessage(mayStay ? misfit : WITHHELD)]),
    ...(isTruncatedText(step) ? [createContinuationMessage(mayStay ? text : '')] : []),
    ...(joined.length === 0 ? [] : [createJoinedMessage(joined, fence)]),
  ];
}

function createContinuationMessage(text: string): UserMessage {
  return { role: 'user', content: createContinuationText(text), said: '' };
}

function createRepairMessage(misfit: string): UserMessage {
  const content = `[From Parley, no person: your answer does not fit the response format: ${misfit}. Answer once more, with the JSON alone. It is the last time.]`;
  return { role: 'user', content, said: '' };
}

/** Formats joined messages like the initial ones: the sender precedes the text, as data (P18). */
function createJoinedMessage(
  rows: readonly InboxRow[],
  fence: AssembledPrompt['fence'],
): UserMessage {
  const messages = rows.map(({ message }) => message);
  const context = fenceContext(formatMessageContext(messages), fence);
  const content = `${context}\n\n${joinMessageTexts(rows, () => [])}`;
  return { role: 'user', content, said: messages.map(({ text }) => text).join('\n') };
}

function createToolMessage(
  { key, call: { id, name }, result }: JournaledCall,
  check: CheckParts,
): ModelMessage {
  if (result === null)
    throw new Error(`The call ${key} has no result; the turn loop must provide one.`);
  const { text, audience, failed } = result;
  const [shown] = check([{ text, audience, source: `tool ${name}` }]);
  return { role: 'tool', callId: id, name, content: shown?.text ?? WITHHELD, failed };
}

function addClosingMessage(
  messages: readonly ModelMessage[],
  closing: string | undefined,
): ModelMessage[] {
  const last = messages.at(-1);
  if (last === undefined || closing === undefined) return [...messages];
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${closing}` }];
}

/** A model for questions outside turns, subject to the spend caps. */
export interface SingleQuestionServices {
  readonly model: ChatModel;
  /** Throws when a spend cap is reached (G17). */
  mayAsk(): Promise<void>;
  spent(usage: Omit<TurnUsage, 'model'>): Promise<void>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly meter: Meter;
}

interface SingleQuestion {
  readonly system: string;
  readonly user: string;
  /** The longest answer, in tokens. */
  readonly tokens: number;
  /** The deadline, in ms. */
  readonly ms: number;
}

/**
 * Asks a model a single question without tools. Throws ModelError, TimeUpError and the errors of
 * `mayAsk`.
 */
export async function askQuestion(
  { model, clock, monotonic, meter, mayAsk, spent }: SingleQuestionServices,
  { system, user, tokens, ms }: SingleQuestion,
  stop: AbortSignal,
): Promise<string> {
  const request = {
    system: [{ text: system, stable: true }],
    messages: [{ role: 'user', content: user }],
    maxOutputTokens: tokens,
  } as const;
  await mayAsk();
  const { text, usage } = await runWithTimeLimit({ ms, stop }, (signal) =>
    callModel(model, request, { clock, monotonic, meter, onText() {} }, signal),
  );
  await spent(usage);
  // The offline model comes last in `model.fallback`, and its answer has nothing to do with the
  // question.
  if (usage.model === OFFLINE_MODEL) throw new Error('no model is reachable at the moment');
  return text;
}

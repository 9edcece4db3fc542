import { type Clock, type Meter, type StepFacts, silentTracer, type Tracer } from '@parley/core';
import type { ChatModel, ModelFinish, ModelRequest, ModelToolCall } from '@parley/models';
import type { JournalStep } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import type { StepUsage } from './turn-journal.ts';

/** When the model was asked, and the facts of that step (D08). */
export type StepTiming = NonNullable<JournalStep['timing']> & {
  readonly facts: Extract<StepFacts, { kind: 'model' }>;
};

/** What asking needs besides the request. */
export interface AskDeps {
  readonly clock: Clock;
  readonly meter: Meter;
  /** Without it nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Called with each new piece of the answer, in order. */
  onText(text: string): void;
}

/** What the model said; `text` is empty only beside calls. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: StepUsage;
  /** When it was asked, and the facts of that step. */
  readonly timing: StepTiming;
}

/** Asks the model and waits for all it says. Throws ModelError, also when aborted. */
export async function askModel(
  model: ChatModel,
  request: ModelRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { tracer = silentTracer, meter, clock } = deps;
  const startedAt = clock();
  let outcome = 'failed';
  try {
    return await tracer.span('parley.model', {}, async (span) => {
      const answer = await listen(model, request, deps, signal);
      const { kind: _kind, calls, ...facts } = answer.timing.facts;
      span.note({ ...facts, calls: calls.length });
      outcome = 'answered';
      return answer;
    });
  } finally {
    const ended = signal.aborted ? 'stopped' : outcome;
    meter.observe('parley_model_seconds', clock() - startedAt, { outcome: ended });
  }
}

async function listen(
  model: ChatModel,
  request: ModelRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const startedAt = deps.clock();
  const calls: ModelToolCall[] = [];
  let firstTokenMs: number | undefined;
  for await (const event of model.stream(request, signal)) {
    if (firstTokenMs === undefined) {
      firstTokenMs = deps.clock() - startedAt;
      deps.meter.observe('parley_model_first_token_seconds', firstTokenMs);
    }
    if (event.type === 'text') deps.onText(event.text);
    else if (event.type === 'tool-call') calls.push(event.call);
    else {
      const { inputTokens, outputTokens, cachedInputTokens } = event.usage;
      deps.meter.count('parley_model_tokens_total', { direction: 'input' }, inputTokens);
      deps.meter.count('parley_model_tokens_total', { direction: 'output' }, outputTokens);
      const { model: answered, costUsd } = event;
      const usage = { model: answered, inputTokens, outputTokens, cachedInputTokens, costUsd };
      const facts = modelFacts(model, event, calls, firstTokenMs);
      return { text: event.text, calls, usage, timing: { startedAt, facts } };
    }
  }
  throw new Error(
    `The model ${model.id} ended without a finish event; this is a defect of its port.`,
  );
}

/** Names and numbers alone. */
function modelFacts(
  { id }: ChatModel,
  { model, usage, tries }: ModelFinish,
  calls: readonly ModelToolCall[],
  firstTokenMs: number,
): Extract<StepFacts, { kind: 'model' }> {
  return {
    kind: 'model',
    model,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    firstTokenMs,
    ...(model !== id && { insteadOf: id }),
    ...(tries !== undefined && { asked: tries }),
    calls: calls.map(({ name }) => name.slice(0, 80)),
  };
}

/**
 * What a call has used that was ended before it could say so: guessed from what was sent and said. The
 * request is paid for all the same. Pictures are not counted, nor money: the cached share is unknown.
 */
export function cutOffUsage(model: string, request: ModelRequest, said: string): StepUsage {
  const { system, messages, tools = [] } = request;
  const texts = [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...tools.map((tool) => JSON.stringify(tool)),
  ];
  const inputTokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { model, inputTokens, outputTokens: estimateTokens(said), costUsd: null };
}

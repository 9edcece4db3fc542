import type { Clock, Meter } from '@parley/contracts';
import type { ChatModel, ModelRequest, ModelToolCall } from '@parley/models';
import type { StepUsage } from './final-step.ts';

/** What asking needs besides the request. */
export interface AskDeps {
  readonly clock: Clock;
  readonly meter: Meter;
  /** Called with each new piece of the answer, in order. */
  onText(text: string): void;
}

/** What the model said; `text` is empty only beside calls. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: StepUsage;
}

/** Asks the model and waits for all it says. Throws ModelError, also when aborted. */
export async function askModel(
  model: ChatModel,
  request: ModelRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const startedAt = deps.clock();
  const calls: ModelToolCall[] = [];
  let first = true;
  for await (const event of model.stream(request, signal)) {
    if (first) deps.meter.observe('parley_model_first_token_seconds', deps.clock() - startedAt);
    first = false;
    if (event.type === 'text') deps.onText(event.text);
    else if (event.type === 'tool-call') calls.push(event.call);
    else {
      const { inputTokens, outputTokens } = event.usage;
      deps.meter.count('parley_model_tokens_total', { direction: 'input' }, inputTokens);
      deps.meter.count('parley_model_tokens_total', { direction: 'output' }, outputTokens);
      const usage = { model: event.model, inputTokens, outputTokens, costUsd: event.costUsd };
      return { text: event.text, calls, usage };
    }
  }
  throw new Error(
    `The model ${model.id} ended without a finish event; this is a defect of its port.`,
  );
}

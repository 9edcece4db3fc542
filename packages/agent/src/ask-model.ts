import type { Clock, Meter } from '@parley/contracts';
import type { ChatModel, ModelRequest } from '@parley/models';
import type { FinalStep } from './final-step.ts';

/** What asking needs besides the request. */
export interface AskDeps {
  readonly clock: Clock;
  readonly meter: Meter;
  /** Called with each new piece of the answer, in order. */
  onText(text: string): void;
}

/** Asks the model and waits for the whole answer. Throws ModelError, also when aborted. */
export async function askModel(
  model: ChatModel,
  request: ModelRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<FinalStep> {
  const startedAt = deps.clock();
  let first = true;
  for await (const event of model.stream(request, signal)) {
    if (event.type === 'text') {
      if (first) deps.meter.observe('parley_model_first_token_seconds', deps.clock() - startedAt);
      first = false;
      deps.onText(event.text);
      continue;
    }
    if (event.type === 'tool-call') continue;
    const { inputTokens, outputTokens } = event.usage;
    deps.meter.count('parley_model_tokens_total', { direction: 'input' }, inputTokens);
    deps.meter.count('parley_model_tokens_total', { direction: 'output' }, outputTokens);
    const usage = { model: event.model, inputTokens, outputTokens, costUsd: event.costUsd };
    return { kind: 'answer', text: event.text, usage };
  }
  throw new Error(
    `The model ${model.id} ended without a finish event; this is a defect of its port.`,
  );
}

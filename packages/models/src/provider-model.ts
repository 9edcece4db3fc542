import type { Clock } from '@parley/contracts';
import { type CallDeadlines, startDeadlines } from './call-deadlines.ts';
import type { ChatModel, ModelEvent, ModelRequest, ModelToolCall } from './chat-model.ts';
import { classifyFailure } from './classify-failure.ts';
import { explainFailure } from './explain-failure.ts';
import { failureFacts } from './failure-facts.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import type { ModelTimeouts, ProviderChoice } from './model-settings.ts';
import { costOf, countUsage, type ReportedUsage } from './model-usage.ts';
import {
  openProvider,
  type ProviderCall,
  type ProviderModel,
  type ProviderPart,
  providerOptions,
} from './open-provider.ts';
import { providerPrompt } from './provider-prompt.ts';
import { providerTools, toolCallOf } from './provider-tools.ts';

/** What a provider model needs from outside. */
export interface ProviderDeps {
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
}

/** How one provider model is set up; `id` and `server` are its names for people. */
export interface ProviderModelInit {
  readonly id: string;
  readonly server: string;
  readonly choice: ProviderChoice;
  readonly timeouts: ModelTimeouts;
}

/**
 * One model of one provider. It speaks to the provider level of the AI SDK (`doStream`) and not to
 * `streamText`: the turn loop, the retries and the journal are Parley's own, and a call costs about
 * half the processor time (numbers in the README). The provider is loaded with the first call.
 */
export function providerModel(init: ProviderModelInit, deps: ProviderDeps): ChatModel {
  let opened: Promise<ProviderModel> | null = null;
  const open = () => {
    opened ??= openProvider(init.choice, deps.fetch);
    return opened;
  };
  return {
    id: init.id,
    stream: (request, signal) => streamCall(init, deps, open, request, signal),
  };
}

async function* streamCall(
  init: ProviderModelInit,
  deps: ProviderDeps,
  open: () => Promise<ProviderModel>,
  request: ModelRequest,
  caller: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const deadlines = startDeadlines(init.timeouts, caller);
  const answer: Answer = { text: '', calls: [], contentType: '', finish: null };
  try {
    throwIfEnded(deadlines);
    const model = await open();
    yield* readAnswer(model, callOf(init, request, deadlines.signal), deadlines, answer);
    yield finished(init, request, answer);
  } catch (thrown) {
    throw modelError(init, deadlines.ended(), thrown, answer, deps.clock());
  } finally {
    deadlines.close();
  }
}

/** What has arrived of an answer so far. */
interface Answer {
  text: string;
  readonly calls: ModelToolCall[];
  contentType: string;
  finish: { reason: string; usage: ReportedUsage } | null;
}

async function* readAnswer(
  model: ProviderModel,
  call: ProviderCall,
  deadlines: CallDeadlines,
  answer: Answer,
): AsyncGenerator<ModelEvent> {
  const result = await model.doStream(call);
  answer.contentType = result.response?.headers?.['content-type'] ?? '';
  const reader = result.stream.getReader();
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      if (done) return;
      if (part.type === 'error') throw part.error;
      if (SIGNS_OF_LIFE.has(part.type)) deadlines.alive();
      const event = eventOf(part, answer);
      if (event === null) continue;
      yield event;
      throwIfEnded(deadlines);
    }
  } finally {
    // Without effect after the end; ends the connection when the caller left or something was thrown.
    await reader.cancel().catch(ignoreFailedCancel);
  }
}

/** Long arguments of a tool take their time, as long thoughts do. */
const SIGNS_OF_LIFE: ReadonlySet<ProviderPart['type']> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
]);

/** Adds a part to the answer; what of it the caller is told, or null. */
function eventOf(part: ProviderPart, answer: Answer): ModelEvent | null {
  switch (part.type) {
    case 'finish':
      answer.finish = { reason: part.finishReason.unified, usage: part.usage };
      return null;
    case 'text-delta':
      if (part.delta === '') return null;
      answer.text += part.delta;
      return { type: 'text', text: part.delta };
    case 'tool-call': {
      const call = toolCallOf(part);
      answer.calls.push(call);
      return { type: 'tool-call', call };
    }
    default:
      return null;
  }
}

/** A stream that already failed cannot be cancelled; its failure was thrown by `read`. */
function ignoreFailedCancel(): void {}

function callOf(init: ProviderModelInit, request: ModelRequest, signal: AbortSignal): ProviderCall {
  return {
    prompt: providerPrompt(init.choice.provider, request),
    ...providerTools(init.choice.provider, request),
    abortSignal: signal,
    ...providerOptions(init.choice),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  };
}

function finished(init: ProviderModelInit, request: ModelRequest, answer: Answer): ModelEvent {
  const { finish, text, calls } = answer;
  const saysNothing = text.trim() === '' && calls.length === 0;
  if (finish?.reason === 'content-filter' && saysNothing) throw new NoAnswer('filtered');
  if (finish === null || saysNothing) throw new NoAnswer('empty');
  const written = text + calls.map((call) => call.name + call.arguments).join('');
  const usage = countUsage(finish.usage, request, written);
  const costUsd = costOf(usage, init.choice.price);
  // Some servers say `stop` beside their calls.
  const finishReason = calls.length > 0 ? 'tool-calls' : finish.reason;
  return { type: 'finish', text, usage, finishReason, model: init.id, costUsd };
}

/** The call went well and brought no words. Turned into a `ModelError` before it leaves this file. */
class NoAnswer extends Error {
  readonly kind: 'filtered' | 'empty';

  constructor(kind: 'filtered' | 'empty') {
    super('');
    this.kind = kind;
  }
}

/** Ends the reading of a call whose time is up. Turned into a `ModelError` before it leaves this file. */
function throwIfEnded(deadlines: CallDeadlines): void {
  if (deadlines.ended() !== null) throw new Error('ended');
}

function modelError(
  init: ProviderModelInit,
  ended: ModelFailure | null,
  thrown: unknown,
  answer: Answer,
  now: number,
): ModelError {
  const facts = failureFacts(thrown);
  const failure = ended ?? streamFailure(thrown, answer) ?? classifyFailure(facts, now);
  const message = explainFailure(failure, init, facts.message);
  // The AI SDK's error holds the whole request; only its words are kept.
  const cause = new Error(
    `${facts.name} ${facts.status ?? ''} ${facts.networkCode ?? ''}: ${facts.message}`,
  );
  return new ModelError(failure, init.id, message, cause);
}

/** What the state of the stream says before any words of the error are looked at. */
function streamFailure(thrown: unknown, answer: Answer): ModelFailure | null {
  if (thrown instanceof NoAnswer) return { kind: thrown.kind };
  const endedEarly = /without a finish reason/.test(failureFacts(thrown).message);
  if (!endedEarly) return null;
  if (answer.text !== '' || answer.calls.length > 0) return { kind: 'broken-off' };
  return answer.contentType.includes('event-stream') ? { kind: 'empty' } : { kind: 'rubbish' };
}

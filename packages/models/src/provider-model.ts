import type { Clock } from '@parley/contracts';
import { startDeadlines } from './call-deadlines.ts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { classifyFailure } from './classify-failure.ts';
import { explainFailure } from './explain-failure.ts';
import { failureFacts } from './failure-facts.ts';
import { harmlessRequests } from './harmless-request.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import type { ModelTimeouts, ProviderChoice } from './model-settings.ts';
import { costOf, countUsage } from './model-usage.ts';
import {
  openProvider,
  type ProviderCall,
  type ProviderModel,
  providerOptions,
} from './open-provider.ts';
import { providerPrompt } from './provider-prompt.ts';
import { providerTools } from './provider-tools.ts';
import { type Answer, readAnswer, throwIfEnded } from './read-answer.ts';

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
  const own: Own = {
    harmless: harmlessRequests(),
    open() {
      opened ??= openProvider(init.choice, deps.fetch);
      return opened;
    },
  };
  return {
    id: init.id,
    stream: (request, signal) => streamCall(init, deps, own, request, signal),
  };
}

interface Own {
  readonly harmless: (request: ModelRequest) => ModelRequest;
  readonly open: () => Promise<ProviderModel>;
}

async function* streamCall(
  init: ProviderModelInit,
  deps: ProviderDeps,
  { harmless, open }: Own,
  request: ModelRequest,
  caller: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const deadlines = startDeadlines(init.timeouts, caller);
  const answer: Answer = { text: '', calls: [], contentType: '', finish: null };
  try {
    throwIfEnded(deadlines);
    const model = await open();
    const call = callOf(init, harmless(request), deadlines.signal);
    yield* readAnswer(model, call, deadlines, answer);
    yield finished(init, request, answer);
  } catch (thrown) {
    throw modelError(init, deadlines.ended(), thrown, answer, deps.clock());
  } finally {
    deadlines.close();
  }
}

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

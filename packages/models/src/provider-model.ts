import type { Clock } from '@parley/core';
import {
  harmlessRequests,
  openProvider,
  type ProviderCall,
  type ProviderModel,
  type ProviderPart,
  providerFormat,
  providerOptions,
  providerPrompt,
  providerTools,
} from './ai-sdk.ts';
import { type AnswerBounds, type AnswerMeter, measureAnswer, takePart } from './answer-bounds.ts';
import {
  type ChatModel,
  costOf,
  countUsage,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  type ModelToolCall,
  type ReportedUsage,
} from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';
import { classifyFailure, failureFacts } from './failures.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { ModelTimeouts, ProviderChoice } from './model-settings.ts';
import { isOtherModel } from './served-model.ts';

/** One provider model; `id` and `server` are its names for people. */
export interface ProviderModelInit {
  readonly id: string;
  readonly server: string;
  readonly choice: ProviderChoice;
  readonly timeouts: ModelTimeouts;
  readonly bounds: AnswerBounds;
  readonly clock: Clock;
  readonly fetch: typeof globalThis.fetch;
}

/** What has arrived of an answer so far. */
interface Answer {
  text: string;
  readonly calls: ModelToolCall[];
  contentType: string;
  /** The model that the server says has answered. */
  served: string | null;
  finish: { reason: string; usage: ReportedUsage } | null;
}

/**
 * One model of one provider. It uses the provider level of the AI SDK (`doStream`) and not `streamText`:
 * the turn loop, the retries and the journal are Parley's own, and a call costs about half the processor
 * time (numbers in the README). The provider is loaded with the first call.
 */
export function providerModel(init: ProviderModelInit): ChatModel {
  const { id, choice, timeouts, bounds, fetch } = init;
  const harmless = harmlessRequests();
  let opened: Promise<ProviderModel> | null = null;
  async function* stream(request: ModelRequest, caller: AbortSignal): AsyncGenerator<ModelEvent> {
    const deadlines = startDeadlines(timeouts, caller);
    const meter = measureAnswer(bounds);
    const answer: Answer = { text: '', calls: [], contentType: '', served: null, finish: null };
    let reader: ReadableStreamDefaultReader<ProviderPart> | undefined;
    try {
      throwIfEnded(deadlines);
      opened ??= openProvider(choice, fetch);
      const model = await opened;
      const result = await model.doStream(callOf(choice, harmless(request), deadlines.signal));
      answer.contentType = result.response?.headers?.['content-type'] ?? '';
      reader = result.stream.getReader();
      for (;;) {
        const { done, value: part } = await reader.read();
        if (done) break;
        if (part.type === 'error') throw part.error;
        if (SIGNS_OF_LIFE.has(part.type)) deadlines.alive();
        const event = addPart(answer, meter, part);
        if (event !== null) {
          yield event;
          throwIfEnded(deadlines);
        }
        if (meter.cut() !== null) break;
      }
      for (const call of meter.cut() === null ? [] : meter.openCalls()) {
        answer.calls.push(call);
        yield { type: 'tool-call', call };
      }
      yield finished(init, request, answer, meter);
    } catch (thrown) {
      throw modelError(init, deadlines.ended(), thrown, answer);
    } finally {
      deadlines.close();
      // Without effect after the end; ends the connection when the caller left or something was thrown.
      await reader?.cancel().catch(ignoreFailedCancel);
    }
  }
  return { id, stream };
}

/** Long arguments of a tool take their time, as long thoughts do. */
const SIGNS_OF_LIFE: ReadonlySet<ProviderPart['type']> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
]);

function callOf(choice: ProviderChoice, request: ModelRequest, signal: AbortSignal): ProviderCall {
  return {
    prompt: providerPrompt(choice.provider, request),
    ...providerTools(choice.provider, request),
    ...providerFormat(choice.provider, request),
    abortSignal: signal,
    ...providerOptions(choice),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  };
}

function finished(
  init: ProviderModelInit,
  request: ModelRequest,
  answer: Answer,
  meter: AnswerMeter,
): ModelEvent {
  const { text, calls } = answer;
  const cut = meter.cut();
  const finish = answer.finish ?? (cut === null ? null : CUT_OFF);
  const saysNothing = text.trim() === '' && calls.length === 0;
  if (cut !== null && saysNothing) throw new NoAnswer('endless');
  if (finish?.reason === 'content-filter' && saysNothing) throw new NoAnswer('filtered');
  if (finish === null || saysNothing) throw new NoAnswer('empty');
  const usage = countUsage(finish.usage, request, meter.written());
  const costUsd = costOf(usage, init.choice.price);
  // Some servers say `stop` beside their calls. A last call that was cut must not be taken for a whole one.
  const isCalling = calls.length > 0 && finish.reason !== 'length';
  const finishReason = isCalling ? 'tool-calls' : finish.reason;
  const done = { text, usage, finishReason, model: init.id, costUsd };
  return {
    type: 'finish',
    ...done,
    ...(cut !== null && { cut }),
    ...(answer.served !== null &&
      isOtherModel(init.choice.model, answer.served) && {
        servedBy: `${init.choice.provider}/${answer.served}`,
      }),
  };
}

/** The end of an answer that exceeded a bound: its provider had no time to count tokens. */
const CUT_OFF: NonNullable<Answer['finish']> = {
  reason: 'length',
  usage: {
    inputTokens: { total: undefined, cacheRead: undefined },
    outputTokens: { total: undefined },
  },
};

/** The call succeeded without any text. Turned into a `ModelError` before it leaves this file. */
class NoAnswer extends Error {
  readonly kind: 'filtered' | 'empty' | 'endless';

  constructor(kind: NoAnswer['kind']) {
    super('');
    this.kind = kind;
  }
}

function modelError(
  init: ProviderModelInit,
  ended: ModelFailure | null,
  thrown: unknown,
  answer: Answer,
): ModelError {
  const facts = failureFacts(thrown);
  const failure = ended ?? streamFailure(thrown, answer) ?? classifyFailure(facts, init.clock());
  const message = explainFailure(failure, init, facts.message);
  // The AI SDK's error holds the whole request; only its message is kept.
  const cause = new Error(
    `${facts.name} ${facts.status ?? ''} ${facts.networkCode ?? ''}: ${facts.message}`,
  );
  return new ModelError(failure, init.id, message, cause);
}

/** The failure that the state of the stream shows, before the error message is looked at. */
function streamFailure(thrown: unknown, answer: Answer): ModelFailure | null {
  if (thrown instanceof NoAnswer) return { kind: thrown.kind };
  const endedEarly = /without a finish reason/.test(failureFacts(thrown).message);
  if (!endedEarly) return null;
  if (answer.text !== '' || answer.calls.length > 0) return { kind: 'broken-off' };
  return answer.contentType.includes('event-stream') ? { kind: 'empty' } : { kind: 'rubbish' };
}

/** Adds a part to the answer. Returns the caller's event, or null where it is none of theirs. */
function addPart(answer: Answer, meter: AnswerMeter, part: ProviderPart): ModelEvent | null {
  if (part.type === 'finish') {
    const { raw, unified } = part.finishReason;
    answer.finish = { reason: finishReasonOf(raw, unified), usage: part.usage };
    return null;
  }
  if (part.type === 'response-metadata') {
    answer.served = part.modelId ?? answer.served;
    return null;
  }
  const event = takePart(meter, part);
  if (event?.type === 'text') answer.text += event.text;
  else if (event?.type === 'tool-call') answer.calls.push(event.call);
  return event;
}

/** A stream that already failed cannot be cancelled; its failure was thrown by `read`. */
function ignoreFailedCancel(): void {}

/** Ends the reading of a call whose time is up. Turned into a `ModelError` by the caller. */
function throwIfEnded(deadlines: CallDeadlines): void {
  if (deadlines.ended() !== null) throw new Error('ended');
}

/** Ends one call when its time is up or its caller stops it. */
interface CallDeadlines {
  /** Aborted when the call must end. */
  readonly signal: AbortSignal;
  /** A piece of the answer came: the time between pieces starts again. */
  alive(): void;
  /** Why the call was ended; null while it may go on. */
  ended(): ModelFailure | null;
  /** Stops the clocks; the call itself is not touched. */
  close(): void;
}

/** Starts the clocks of one call, which `caller` stops. */
export function startDeadlines(timeouts: ModelTimeouts, caller: AbortSignal): CallDeadlines {
  const controller = new AbortController();
  let reason: ModelFailure | null = null;
  const end = (failure: ModelFailure) => {
    if (controller.signal.aborted) return;
    reason = failure;
    controller.abort();
  };
  const stop = () => end({ kind: 'aborted' });
  if (caller.aborted) stop();
  caller.addEventListener('abort', stop, { once: true });

  const total = setTimeout(end, timeouts.totalMs, { kind: 'timeout', phase: 'total' });
  let started = false;
  let pause = setTimeout(end, timeouts.firstTokenMs, { kind: 'timeout', phase: 'first-token' });
  return {
    signal: controller.signal,
    alive() {
      if (started) {
        pause.refresh();
        return;
      }
      started = true;
      clearTimeout(pause);
      pause = setTimeout(end, timeouts.chunkMs, { kind: 'timeout', phase: 'stalled' });
    },
    ended: () => reason,
    close() {
      clearTimeout(total);
      clearTimeout(pause);
      caller.removeEventListener('abort', stop);
    },
  };
}

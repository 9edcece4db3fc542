import type { Clock } from '@parley/core';
import { createAiSdkClient } from './ai-sdk-client.ts';
import {
  type AnswerLimits,
  type AnswerMeter,
  createAnswerMeter,
  measurePart,
} from './answer-bounds.ts';
import {
  type AnswerPart,
  type DropReason,
  type FinishReason,
  type ProviderClient,
  type ProviderFinish,
  StreamFailure,
} from './answer-parts.ts';
import { type CallDeadlines, startDeadlines } from './call-deadlines.ts';
import {
  type ChatModel,
  computeCost,
  countUsage,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelFinish,
  type ModelRequest,
  type ModelToolCall,
} from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';
import { toFinishReasonName } from './finish-reason.ts';
import { createRequestSender, httpExchange } from './http-exchange.ts';
import { httpFetch } from './http-fetch.ts';
import type { ModelTimeouts, ProviderChoice } from './model-settings.ts';
import { createCompatibleClient, type ReportOddities } from './openai-compatible/client.ts';
import { createHiddenPartRecorder, type HiddenPartRecorder } from './separate/aside-record.ts';
import type { ModelSeparation } from './separate/open-separation.ts';
import { isOtherModel } from './served-model.ts';

/** One provider model with its display names `id` and `server`. */
export interface ProviderModelInit {
  readonly id: string;
  readonly server: string;
  readonly choice: ProviderChoice;
  readonly timeouts: ModelTimeouts;
  readonly bounds: AnswerLimits;
  readonly clock: Clock;
  /** The `fetch` implementation; `httpFetch` when absent. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * How long token counts may follow a complete answer, in ms; the client's default when absent.
   */
  readonly graceMs?: number;
  /** Reports oddities in an answer that was accepted. */
  readonly report?: ReportOddities;
  /** Reports a call that the model wrote into its text and that did not run. */
  readonly onDropped?: (why: DropReason) => void;
}

/** The part of an answer that has arrived so far. */
interface PartialAnswer {
  text: string;
  readonly aside: HiddenPartRecorder;
  readonly calls: ModelToolCall[];
  finish: ProviderFinish | null;
}

/**
 * Wraps one model of one provider: calls its client, enforces deadlines and limits, and converts
 * received parts to model events. Only the client implements the wire format.
 */
export function createProviderModel(init: ProviderModelInit): ChatModel {
  const { id, timeouts, bounds } = init;
  const client = openClient(init);
  let opened: Promise<ModelSeparation> | null = null;
  async function* stream(request: ModelRequest, caller: AbortSignal): AsyncGenerator<ModelEvent> {
    const deadlines = startDeadlines(timeouts, caller);
    const meter = createAnswerMeter(bounds);
    const answer: PartialAnswer = {
      text: '',
      calls: [],
      finish: null,
      aside: createHiddenPartRecorder(),
    };
    try {
      throwIfDeadlinePassed(deadlines);
      try {
        opened ??= loadSeparation(init);
        const { clean, separate } = await opened;
        const parts = client.stream(clean(request), deadlines.signal);
        for await (const part of separate(parts, request)) {
          if (part.type === 'dropped') init.onDropped?.(part.why);
          const event = addAnswerPart(answer, meter, part, deadlines);
          if (event !== null) yield event;
          if (caller.aborted) throwIfDeadlinePassed(deadlines);
          if (meter.cut() !== null) break;
        }
      } catch (thrown) {
        // An error never replaces a complete answer, but a caller who stopped the call gets
        // neither.
        if (answer.finish === null || caller.aborted) throw thrown;
      }
      for (const call of meter.cut() === null ? [] : meter.openCalls()) {
        answer.calls.push(call);
        yield { type: 'tool-call', call };
      }
      yield finishAnswer(init, request, answer, meter);
    } catch (thrown) {
      throw await toModelError(init, deadlines.ended(), thrown);
    } finally {
      deadlines.close();
    }
  }
  return { id, stream };
}

async function loadSeparation({ choice, bounds }: ProviderModelInit): Promise<ModelSeparation> {
  const { openSeparation } = await import('./separate/open-separation.ts');
  return openSeparation(choice.model, bounds.argumentBytes);
}

function openClient(init: ProviderModelInit): ProviderClient {
  const { choice, fetch, graceMs, report = () => {} } = init;
  if (choice.provider !== 'openai-compatible') return createAiSdkClient(choice, fetch ?? httpFetch);
  const exchange = fetch === undefined ? httpExchange : createRequestSender(fetch);
  return createCompatibleClient(choice, exchange, report, graceMs);
}

function finishAnswer(
  init: ProviderModelInit,
  request: ModelRequest,
  answer: PartialAnswer,
  meter: AnswerMeter,
): ModelEvent {
  const { text, calls } = answer;
  const cut = meter.cut();
  const finish = answer.finish ?? (cut === null ? null : CUT_OFF);
  const saysNothing = text.trim() === '' && calls.length === 0;
  const reason = finish === null ? null : toFinishReason(finish);
  // The reasoning used up the limit set by the settings or the provider.
  if ((cut !== null || reason === 'length') && saysNothing) throw new StreamFailure('endless');
  if (reason === 'content-filter' && saysNothing) throw new StreamFailure('filtered');
  if (finish === null || saysNothing) throw new StreamFailure('empty');
  const usage = countUsage(finish.usage, request, meter.written());
  const costUsd = computeCost(usage, init.choice.price);
  // Some servers send `stop` along with their calls. A truncated last call must not be mistaken for
  // a complete call.
  const finishReason = calls.length > 0 && reason !== 'length' ? 'tool-calls' : (reason ?? 'other');
  const done = {
    text,
    usage,
    finishReason,
    model: init.id,
    costUsd,
    ...describeUnusualFinish(init, finish),
  };
  const aside = answer.aside.whole();
  return {
    type: 'finish',
    ...done,
    ...(cut !== null && { cut }),
    ...(aside !== null && { aside }),
  };
}

/** The AI SDK recognizes fewer finish reasons than providers send. */
function toFinishReason({ reason, rawReason }: ProviderFinish): FinishReason {
  return reason === 'other' && rawReason !== null ? toFinishReasonName(rawReason) : reason;
}

/** Additional facts that the provider reported about the answer. */
function describeUnusualFinish(
  { choice }: ProviderModelInit,
  { reason, rawReason, servedModel }: ProviderFinish,
): Pick<ModelFinish, 'rawFinishReason' | 'servedModel'> {
  const isUsual = reason === 'stop' || reason === 'tool-calls';
  return {
    ...(!isUsual && rawReason !== null && { rawFinishReason: rawReason }),
    ...(servedModel !== null && isOtherModel(choice.model, servedModel) && { servedModel }),
  };
}

/** The end of an answer that exceeded a limit, before the provider could count tokens. */
const CUT_OFF: ProviderFinish = {
  type: 'finish',
  reason: 'length',
  rawReason: null,
  servedModel: null,
  usage: {
    inputTokens: { total: undefined, cacheRead: undefined },
    outputTokens: { total: undefined },
  },
};

async function toModelError(
  init: ProviderModelInit,
  ended: ModelFailure | null,
  thrown: unknown,
): Promise<ModelError> {
  // This module is loaded with the first failure, because startup does not need it.
  const { classifyFailure, collectCallFailureDetails } = await import('./failures.ts');
  const facts = collectCallFailureDetails(thrown);
  const seen = thrown instanceof StreamFailure ? thrown.failure : null;
  const failure = ended ?? seen ?? classifyFailure(facts, init.clock());
  const message = explainFailure(failure, init, facts.message);
  // The AI SDK's error contains the entire request; only its message is kept.
  const cause = new Error(
    `${facts.name} ${facts.status ?? ''} ${facts.networkCode ?? ''}: ${facts.message}`,
  );
  return new ModelError(failure, init.id, message, cause);
}

/** Adds a part to the answer and returns the event for the caller, or null if there is none. */
function addAnswerPart(
  answer: PartialAnswer,
  meter: AnswerMeter,
  part: AnswerPart,
  deadlines: CallDeadlines,
): ModelEvent | null {
  deadlines.alive();
  switch (part.type) {
    case 'alive':
      return null;
    case 'error':
      if (answer.finish === null) throw part.error;
      return null;
    case 'finish':
      answer.finish = part;
      return null;
    default: {
      deadlines.piece();
      answer.aside.add(part);
      const event = measurePart(meter, part);
      if (event?.type === 'text') answer.text += event.text;
      else if (event?.type === 'restart') answer.text = '';
      else if (event?.type === 'tool-call') answer.calls.push(event.call);
      return event;
    }
  }
}

/**
 * Stops reading a call whose deadline has passed. The caller converts this error to a `ModelError`.
 */
function throwIfDeadlinePassed(deadlines: CallDeadlines): void {
  if (deadlines.ended() !== null) throw new Error('ended');
}

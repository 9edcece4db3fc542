import type { Clock } from '@parley/contracts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';
import { ModelError } from './model-error.ts';
import { countUsage } from './model-usage.ts';
import { type OfflineReason, offlineAnswer } from './offline-answer.ts';

/** What the offline model must be told. */
export interface OfflineDeps {
  readonly reason: OfflineReason;
  readonly settingsFile: string;
  readonly timeZone: string;
  readonly clock: Clock;
}

const ID = 'parley/offline';
const NOTHING_REPORTED = {
  inputTokens: { total: undefined, cacheRead: undefined },
  outputTokens: { total: undefined },
};

/**
 * The model of an installation without a model: it says so and how to connect one. It needs neither
 * network nor any provider package, costs nothing, and goes the same way as every other model.
 */
export function offlineModel(deps: OfflineDeps): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const asked = request.messages.findLast((message) => message.role === 'user');
    const text = offlineAnswer(asked?.content ?? '', {
      attached: asked?.attached ?? [],
      reason: deps.reason,
      settingsFile: deps.settingsFile,
      timeZone: deps.timeZone,
      now: deps.clock(),
    });
    for (const piece of text.split(/(?<=\n\n)/)) {
      throwIfStopped(signal);
      yield { type: 'text', text: piece };
    }
    throwIfStopped(signal);
    const usage = countUsage(NOTHING_REPORTED, request, text);
    yield { type: 'finish', text, usage, finishReason: 'stop', model: ID, costUsd: 0 };
  }
  return { id: ID, stream };
}

function throwIfStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const failure = { kind: 'aborted' } as const;
  throw new ModelError(failure, ID, explainFailure(failure, { id: ID, server: 'Parley' }, ''));
}

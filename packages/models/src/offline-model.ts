import type { Clock } from '@parley/contracts';
import type { ChatModel, ModelEvent, ModelRequest } from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';
import { ModelError } from './model-error.ts';
import { countUsage } from './model-usage.ts';
import { type OfflineReason, offlineAnswer, plainQuestion } from './offline-answer.ts';

/** What the offline model must be told. */
export interface OfflineDeps {
  readonly reason: OfflineReason;
  readonly settingsFile: string;
  readonly timeZone: string;
  readonly clock: Clock;
}

const ID = 'parley/offline';
/** The one tool it uses: a fresh installation shows that tools work before any model is connected. */
const TIME_TOOL = 'current_time';
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
    const question = asked?.said ?? asked?.content ?? '';
    throwIfStopped(signal);
    if (plainQuestion(question) === 'time' && mayAskTheTime(request)) {
      yield { type: 'tool-call', call: { id: 'offline_time', name: TIME_TOOL, arguments: '{}' } };
      yield finish(request, '', 'tool-calls');
      return;
    }
    const told = request.messages.findLast((message) => message.role === 'tool');
    const toldTime = told?.name === TIME_TOOL && told.failed !== true ? told.content : undefined;
    const text = offlineAnswer(question, {
      ...(toldTime !== undefined && { toldTime }),
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
    yield finish(request, text, 'stop');
  }
  return { id: ID, stream };
}

/** The tool is there, and this turn has not asked it yet. */
function mayAskTheTime({ tools = [], messages }: ModelRequest): boolean {
  return tools.some(({ name }) => name === TIME_TOOL) && messages.at(-1)?.role === 'user';
}

function finish(request: ModelRequest, text: string, finishReason: string): ModelEvent {
  const usage = countUsage(NOTHING_REPORTED, request, text);
  return { type: 'finish', text, usage, finishReason, model: ID, costUsd: 0 };
}

function throwIfStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const failure = { kind: 'aborted' } as const;
  throw new ModelError(failure, ID, explainFailure(failure, { id: ID, server: 'Parley' }, ''));
}

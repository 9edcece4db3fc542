import type { CallDeadlines } from './call-deadlines.ts';
import type { ModelEvent, ModelToolCall } from './chat-model.ts';
import type { ReportedUsage } from './model-usage.ts';
import type { ProviderCall, ProviderModel, ProviderPart } from './open-provider.ts';
import { toolCallOf } from './provider-tools.ts';

/** What has arrived of an answer so far. */
export interface Answer {
  text: string;
  readonly calls: ModelToolCall[];
  contentType: string;
  finish: { reason: string; usage: ReportedUsage } | null;
}

/** Asks, and passes on what comes; `answer` is filled in on the way. Throws what the provider throws. */
export async function* readAnswer(
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

/** Ends the reading of a call whose time is up. Turned into a `ModelError` by the caller. */
export function throwIfEnded(deadlines: CallDeadlines): void {
  if (deadlines.ended() !== null) throw new Error('ended');
}

import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from './chat-model.ts';
import { ModelError, type ModelFailure } from './model-error.ts';

/** Servers refuse pictures in many ways: llama.cpp as its own failure, gateways as "no such model". */
const MAY_BE_THE_PICTURES: ReadonlySet<ModelFailure['kind']> = new Set([
  'refused',
  'overloaded',
  'not-found',
  'too-long',
  'rubbish',
]);

const CANNOT_SEE =
  '[Pictures came with this message, but you cannot see them: this model takes text only. Say so where it matters; never guess what they show.]';
const NOT_TAKEN =
  '[Pictures came with this message, but you cannot see them: this model did not take them. They may be too large, or it may take text only. Say so where it matters; never guess what they show.]';

/**
 * Shows pictures only to a model that takes them. `vision` false: never. Undefined: they are sent, and
 * when the server refuses, the same is asked once more without them. True: its refusal is final.
 */
export function seeingModel(model: ChatModel, vision: boolean | undefined): ChatModel {
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (vision === true || !hasImages(request)) return yield* model.stream(request, signal);
    if (vision === false) return yield* model.stream(withoutImages(request, CANNOT_SEE), signal);
    let spoke = false;
    try {
      for await (const event of model.stream(request, signal)) {
        spoke = true;
        yield event;
      }
      return;
    } catch (thrown) {
      const worthIt = thrown instanceof ModelError && MAY_BE_THE_PICTURES.has(thrown.failure.kind);
      if (spoke || signal.aborted || !worthIt) throw thrown;
    }
    yield* model.stream(withoutImages(request, NOT_TAKEN), signal);
  }
  return {
    get id() {
      return model.id;
    },
    stream,
  };
}

function hasImages({ messages }: ModelRequest): boolean {
  return messages.some((message) => message.role === 'user' && message.images !== undefined);
}

function withoutImages(request: ModelRequest, note: string): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== 'user' || message.images === undefined) return message;
    const { images: _unseen, ...rest } = message;
    return { ...rest, content: `${note}\n\n${message.content}`.trim() };
  });
  return { ...request, messages };
}

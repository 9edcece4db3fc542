import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from './chat-model.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import { withSecondTry } from './second-try.ts';

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
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    if (vision === true || !hasImages(request)) return model.stream(request, signal);
    if (vision === false) return model.stream(withoutImages(request, CANNOT_SEE), signal);
    return withSecondTry(model.stream(request, signal), signal, (failure) => {
      const mayBe = failure instanceof ModelError && MAY_BE_THE_PICTURES.has(failure.failure.kind);
      return mayBe ? model.stream(withoutImages(request, NOT_TAKEN), signal) : null;
    });
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

import type { Logger } from '@parley/core';
import {
  type ChatModel,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelMessage,
  type ModelRequest,
} from './chat-model.ts';

/** Returns the call that replaces the failed call; null if the failure is final. */
type NextTry = (
  failure: unknown,
) => AsyncIterable<ModelEvent> | null | Promise<AsyncIterable<ModelEvent> | null>;

/**
 * If a call fails before its first event, and the caller has not stopped it, returns the events of
 * `next` instead, because a person must not see the beginning of an answer twice.
 */
export async function* withSecondTry(
  events: AsyncIterable<ModelEvent>,
  signal: AbortSignal,
  next: NextTry,
): AsyncGenerator<ModelEvent> {
  let spoke = false;
  let other: AsyncIterable<ModelEvent> | null;
  try {
    for await (const event of events) {
      spoke = true;
      yield event;
    }
    return;
  } catch (thrown) {
    other = spoke || signal.aborted ? null : await next(thrown);
    if (other === null) throw thrown;
  }
  for await (const event of other) {
    yield event.type === 'finish' ? { ...event, tries: (event.tries ?? 1) + 1 } : event;
  }
}

/**
 * Wraps a model with another implementation of its call. The id and the learned context window may
 * change while the model is used.
 */
export function withStream(model: ChatModel, stream: ChatModel['stream']): ChatModel {
  return {
    get id() {
      return model.id;
    },
    get learnedTokens() {
      return model.learnedTokens ?? null;
    },
    learnTokens: (tokens) => model.learnTokens?.(tokens),
    stream,
  };
}

const WITHOUT_TOOLS =
  'This model cannot call tools. Whatever tools are described above cannot be used now: answer with what you know, and say so where one would have been needed. Never pretend to have used one.';

/**
 * Offers tools only to a model that supports them. If a server refuses them, the request is retried
 * once without tools, and later requests never offer them: many small local models do not support
 * tools but can still chat.
 */
export function createToolLessModel(model: ChatModel): ChatModel {
  let takesTools = true;
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    if ((request.tools?.length ?? 0) === 0) return model.stream(request, signal);
    if (!takesTools) return model.stream(removeTools(request), signal);
    return withSecondTry(model.stream(request, signal), signal, (failure) => {
      const refused = failure instanceof ModelError && failure.failure.kind === 'no-tools';
      if (!refused) return null;
      takesTools = false;
      return model.stream(removeTools(request), signal);
    });
  }
  return withStream(model, stream);
}

/** Earlier tool results, from another model in the same turn, are kept as text. */
function removeTools({ tools: _refused, system, messages, ...rest }: ModelRequest): ModelRequest {
  return {
    ...rest,
    system: [...system, { text: WITHOUT_TOOLS, stable: false }],
    messages: messages.map(toTextMessage),
  };
}

function toTextMessage(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return message;
  if (message.role === 'assistant') return { role: 'assistant', content: message.content };
  const { name, content } = message;
  return {
    role: 'user',
    content: `What the tool ${name} said, as data: ${JSON.stringify(content)}`,
  };
}

const BRIDGE = 'I have these results. Before I answer I read what was written meanwhile.';

/**
 * Lets a person's message follow tool results (D03) if the model accepts that. If a server requires
 * roles to alternate, the request is retried once, with an assistant line in between, which later
 * requests always include. The message thus remains the person's own, unlike text inside a tool
 * result.
 */
export function createBridgingModel(model: ChatModel): ChatModel {
  let takesAfterResults = true;
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const bridged = addBridges(request);
    if (bridged === null) return model.stream(request, signal);
    if (!takesAfterResults) return model.stream(bridged, signal);
    return withSecondTry(model.stream(request, signal), signal, (failure) => {
      const refused = failure instanceof ModelError && failure.failure.kind === 'message-order';
      if (!refused) return null;
      takesAfterResults = false;
      return model.stream(bridged, signal);
    });
  }
  return withStream(model, stream);
}

/** Null if no message from a person follows a tool result. */
function addBridges({ messages, ...rest }: ModelRequest): ModelRequest | null {
  const bridged = messages.flatMap((message, index): ModelMessage[] => {
    const isAfterResult = message.role === 'user' && messages[index - 1]?.role === 'tool';
    return isAfterResult ? [{ role: 'assistant', content: BRIDGE }, message] : [message];
  });
  return bridged.length === messages.length ? null : { ...rest, messages: bridged };
}

/**
 * Matches refusals of pictures, which have many forms: llama.cpp has a dedicated error, and
 * gateways say "no such model".
 */
const MAY_BE_THE_PICTURES: ReadonlySet<ModelFailure['kind']> = new Set([
  'refused',
  'overloaded',
  'not-found',
  'too-long',
  'rubbish',
  'blocked',
]);

const CANNOT_SEE =
  '[Pictures came with this message, but you cannot see them: this model takes text only. Say so where it matters; never guess what they show.]';
const NOT_TAKEN =
  '[Pictures came with this message, but you cannot see them: this model did not take them. They may be too large, or it may take text only. Say so where it matters; never guess what they show.]';

/**
 * Sends pictures only to a model that accepts them. `vision` false: pictures are never sent.
 * `vision` undefined: pictures are sent, and if the server refuses, the request is retried once
 * without them. `vision` true: a refusal is final.
 */
export function createVisionAwareModel(model: ChatModel, vision: boolean | undefined): ChatModel {
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    if (vision === true || !hasImages(request)) return model.stream(request, signal);
    if (vision === false) return model.stream(removeImages(request, CANNOT_SEE), signal);
    return withSecondTry(model.stream(request, signal), signal, (failure) => {
      const mayBe = failure instanceof ModelError && MAY_BE_THE_PICTURES.has(failure.failure.kind);
      return mayBe ? model.stream(removeImages(request, NOT_TAKEN), signal) : null;
    });
  }
  return withStream(model, stream);
}

function hasImages({ messages }: ModelRequest): boolean {
  return messages.some((message) => message.role === 'user' && message.images !== undefined);
}

function removeImages(request: ModelRequest, note: string): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== 'user' || message.images === undefined) return message;
    const { images: _unseen, ...rest } = message;
    return { ...rest, content: `${note}\n\n${message.content}`.trim() };
  });
  return { ...request, messages };
}

/**
 * Calls `first`, then the others in order if the previous one failed before its first event. An
 * aborted call is never passed on. If all models fail, the error names each of these models. The
 * learned context window is that of the model called last, because requests are shortened for the
 * model that answers.
 */
export function createFallbackModel(
  first: ChatModel,
  others: readonly ChatModel[],
  logger: Logger,
): ChatModel {
  let asked = first;
  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const failures: ModelError[] = [];
    const ask = (
      model: ChatModel,
      [next, ...rest]: readonly ChatModel[],
    ): AsyncIterable<ModelEvent> => {
      asked = model;
      return withSecondTry(model.stream(request, signal), signal, (failure) => {
        if (!(failure instanceof ModelError)) return null;
        failures.push(failure);
        if (next === undefined) throw combineFailures(failures);
        const { code, message } = failure;
        logger.warn({ model: model.id, code }, `${message} The next model is called.`);
        return ask(next, rest);
      });
    };
    return ask(first, others);
  }
  return {
    id: first.id,
    get learnedTokens() {
      return asked.learnedTokens ?? null;
    },
    learnTokens: (tokens) => asked.learnTokens?.(tokens),
    stream,
  };
}

/**
 * Combines all failures into one error. A request that is too long for one of the models takes
 * precedence, because the caller can shorten it; next comes a failure that may be retried.
 */
function combineFailures(failures: readonly ModelError[]): ModelError | Error {
  const shown =
    failures.find(({ failure }) => failure.kind === 'too-long') ??
    failures.find((failure) => failure.retryable) ??
    failures[0];
  if (shown === undefined || failures.length === 1) return shown ?? new Error('no model was asked');
  const message = failures.map((failure) => failure.message).join(' ');
  return new ModelError(shown.failure, shown.model, message, shown.cause);
}

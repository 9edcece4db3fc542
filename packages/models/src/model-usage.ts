import type { ModelMessage, ModelRequest, ModelUsage } from './chat-model.ts';
import type { ModelPrice } from './model-settings.ts';

/** What a provider reported; undefined where it said nothing. */
export interface ReportedUsage {
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly cacheRead: number | undefined;
  };
  readonly outputTokens: { readonly total: number | undefined };
}

/** Characters of one token, the usual rule of thumb for English; Chinese needs more tokens. */
const CHARACTERS_PER_TOKEN = 4;

/** Of a picture, roughly: providers take between 85 and 1,600, by its size. */
const TOKENS_PER_IMAGE = 1_000;

/** The tokens of a call: as reported, or guessed from lengths when the server counted nothing. */
export function countUsage(
  reported: ReportedUsage,
  request: ModelRequest,
  answer: string,
): ModelUsage {
  const input = reported.inputTokens.total ?? 0;
  const output = reported.outputTokens.total ?? 0;
  // Some servers send zeros instead of nothing; an answer without any tokens does not exist.
  if (input > 0 && output > 0) {
    const cached = Math.min(reported.inputTokens.cacheRead ?? 0, input);
    return {
      inputTokens: input,
      outputTokens: output,
      cachedInputTokens: cached,
      estimated: false,
    };
  }
  return {
    inputTokens: input > 0 ? input : tokensOf(requestLength(request)),
    outputTokens: output > 0 ? output : tokensOf(answer.length),
    cachedInputTokens: 0,
    estimated: true,
  };
}

/** Money of a call in US dollars; null without a price, because unknown is not free. */
export function costOf(usage: ModelUsage, price: ModelPrice | undefined): number | null {
  if (price === undefined) return null;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  const cachedPrice = price.cachedInputPerMillion ?? price.inputPerMillion;
  const millionths =
    fresh * price.inputPerMillion +
    usage.cachedInputTokens * cachedPrice +
    usage.outputTokens * price.outputPerMillion;
  return millionths / 1_000_000;
}

function requestLength(request: ModelRequest): number {
  let length = 0;
  for (const layer of request.system) length += layer.text.length;
  for (const tool of request.tools ?? []) length += JSON.stringify(tool).length;
  for (const message of request.messages) length += messageLength(message);
  return length;
}

function messageLength(message: ModelMessage): number {
  const { length } = message.content;
  switch (message.role) {
    case 'user':
      return length + (message.images?.length ?? 0) * TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN;
    case 'assistant':
      return (message.toolCalls ?? []).reduce(
        (sum, call) => sum + call.name.length + call.arguments.length,
        length,
      );
    case 'tool':
      return length;
  }
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

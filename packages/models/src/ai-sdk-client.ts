import { z } from 'zod';
import {
  ANTHROPIC_URL,
  getProviderOptions,
  OPENAI_URL,
  type ProviderCall,
  type ProviderModel,
  type ProviderPart,
  toProviderFormat,
  toProviderPrompt,
  toProviderTools,
} from './ai-sdk.ts';
import type { AnswerPart, ProviderClient } from './answer-parts.ts';
import type { ModelRequest, ModelToolCall } from './chat-model.ts';
import type { SdkChoice } from './model-settings.ts';
import { createTokenNeutralizer } from './template-tokens.ts';

/**
 * Calls a provider through the provider level of the AI SDK (`doStream`) rather than `streamText`,
 * because Parley has its own turn loop, retries and journal.
 */
export function createAiSdkClient(
  choice: SdkChoice,
  fetch: typeof globalThis.fetch,
): ProviderClient {
  const harmless = createTokenNeutralizer();
  let opened: Promise<ProviderModel> | null = null;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    opened ??= openProvider(choice, fetch);
    const model = await opened;
    const result = await model.doStream(toProviderCall(choice, harmless(request), signal));
    const reader = result.stream.getReader();
    let servedModel: string | null = null;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        if (value.type === 'response-metadata') servedModel = value.modelId ?? servedModel;
        const part = toAnswerPart(value, servedModel);
        if (part !== null) yield part;
      }
    } finally {
      // Closes the connection if the caller stopped early or an error was thrown; has no effect
      // once the stream has ended.
      await reader.cancel().catch(ignoreFailedCancel);
    }
  }
  return { stream };
}

/**
 * Loads only the provider package that is needed and returns its model. The base URL is always
 * passed, because otherwise the packages take a URL from the environment.
 */
async function openProvider(
  choice: SdkChoice,
  fetch: typeof globalThis.fetch,
): Promise<ProviderModel> {
  switch (choice.provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const baseURL = choice.baseUrl ?? ANTHROPIC_URL;
      return createAnthropic({ apiKey: choice.apiKey, baseURL, fetch })(choice.model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const baseURL = choice.baseUrl ?? OPENAI_URL;
      return createOpenAI({ apiKey: choice.apiKey, baseURL, fetch })(choice.model);
    }
  }
}

function toProviderCall(
  choice: SdkChoice,
  request: ModelRequest,
  signal: AbortSignal,
): ProviderCall {
  return {
    prompt: toProviderPrompt(choice.provider, request),
    ...toProviderTools(choice.provider, request),
    ...toProviderFormat(choice.provider, request),
    abortSignal: signal,
    // Every event, even a ping, shows that the provider is working.
    includeRawChunks: true,
    ...getProviderOptions(choice),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  };
}

/** Returns null for parts without content for the caller. */
function toAnswerPart(part: ProviderPart, servedModel: string | null): AnswerPart | null {
  switch (part.type) {
    case 'raw':
      return { type: 'alive' };
    case 'text-delta':
      return { type: 'text', text: part.delta };
    case 'reasoning-delta':
      return { type: 'reasoning', text: part.delta };
    case 'tool-input-start':
      return { type: 'call-start', id: part.id, name: part.toolName };
    case 'tool-input-delta':
      return { type: 'call-input', id: part.id, text: part.delta };
    case 'tool-call':
      return { type: 'tool-call', call: toModelToolCall(part) };
    case 'error':
      return { type: 'error', error: part.error };
    case 'finish': {
      const { unified, raw } = part.finishReason;
      const reason = unified === 'interrupted' ? 'error' : unified;
      return { type: 'finish', reason, rawReason: raw ?? null, usage: part.usage, servedModel };
    }
    default:
      return null;
  }
}

const Signed = z.record(z.string(), z.looseObject({ thoughtSignature: z.string().optional() }));

/** A call as received, with its arguments joined from fragments. */
function toModelToolCall(part: Extract<ProviderPart, { type: 'tool-call' }>): ModelToolCall {
  const signed = Signed.safeParse(part.providerMetadata);
  const signature = Object.values(signed.data ?? {})
    .map(({ thoughtSignature }) => thoughtSignature)
    .find((found) => found !== undefined);
  return {
    id: part.toolCallId,
    name: part.toolName,
    arguments: part.input,
    ...(signature !== undefined && { signature }),
  };
}

/** A stream that has already failed cannot be canceled; `read` has thrown its error. */
function ignoreFailedCancel(): void {}

import type { LanguageModel } from 'ai';
import type { ProviderChoice } from './model-settings.ts';

/** A model of the AI SDK at its provider level. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** What one call to it takes. */
export type ProviderCall = Parameters<ProviderModel['doStream']>[0];
/** The messages of one call. */
export type ProviderPrompt = ProviderCall['prompt'];
/** What arrives while it answers. */
export type ProviderPart =
  Awaited<ReturnType<ProviderModel['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const OPENAI_URL = 'https://api.openai.com/v1';

/**
 * Loads the one provider package that is needed and returns its model. The address is always passed,
 * because the packages otherwise take one from the environment.
 */
export async function openProvider(
  choice: ProviderChoice,
  fetch: typeof globalThis.fetch,
): Promise<ProviderModel> {
  switch (choice.provider) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: choice.baseUrl,
        includeUsage: true,
        fetch,
        ...(choice.apiKey !== undefined && { apiKey: choice.apiKey }),
        ...(choice.headers !== undefined && { headers: choice.headers }),
      });
      return provider.chatModel(choice.model);
    }
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

/** Options that only one provider has. OpenAI would otherwise keep every conversation for 30 days. */
export function providerOptions(choice: ProviderChoice): Pick<ProviderCall, 'providerOptions'> {
  return choice.provider === 'openai' ? { providerOptions: { openai: { store: false } } } : {};
}

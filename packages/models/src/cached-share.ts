import type { ChatModel } from './chat-model.ts';
import type { ProviderChoice } from './model-settings.ts';
import { withStream } from './retry.ts';

/**
 * The price of cached input as a share of the normal input price, by model vendor; the first match
 * counts.
 */
const FAMILIES: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 0.1],
  [/gpt-5/i, 0.1],
  [/gpt-4\.1|(^|\/)o[34](-|$)/i, 0.25],
  [/gpt-4o|(^|\/)o1(-|$)/i, 0.5],
  [/gemini-(?:2\.5|[3-9])/i, 0.1],
  [/gemini|grok/i, 0.25],
  [/deepseek/i, 0.1],
];

/** The highest common share, for models of unknown vendors. */
const UNKNOWN_SHARE = 0.5;
const ANTHROPIC_SHARE = 0.1;

/**
 * The share at which a cached input token counts, from 0 to 1: from the configured prices,
 * otherwise the vendor's usual share, otherwise the highest common share.
 */
export function getCachedShare({
  provider,
  model,
  price,
}: Pick<ProviderChoice, 'provider' | 'model' | 'price'>): number {
  const { cachedInputPerMillion: cached, inputPerMillion: input = 0 } = price ?? {};
  if (cached !== undefined && input > 0) return Math.min(1, cached / input);
  if (provider === 'anthropic') return ANTHROPIC_SHARE;
  return FAMILIES.find(([family]) => family.test(model))?.[1] ?? UNKNOWN_SHARE;
}

/** Adds to each answer of a model the weight of its cached input. */
export function createCacheWeightingModel(model: ChatModel, cachedShare: number): ChatModel {
  return withStream(model, async function* (request, signal) {
    for await (const event of model.stream(request, signal)) {
      yield event.type === 'finish' ? { ...event, usage: { ...event.usage, cachedShare } } : event;
    }
  });
}

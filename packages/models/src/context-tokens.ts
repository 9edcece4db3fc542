import type { ModelSettings, ProviderChoice } from './model-settings.ts';

/** Of models that only their makers serve, by their names; the first that fits counts. */
const FAMILIES: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 200_000],
  [/gpt-5/i, 272_000],
  [/gpt-4\.1/i, 1_000_000],
  [/gpt-4o|gpt-4-turbo/i, 128_000],
  [/gpt-4/i, 8_192],
  [/gpt-3\.5/i, 16_385],
  [/(^|\/)o[134](-|$)/i, 200_000],
  [/gemini/i, 1_000_000],
  [/grok/i, 131_072],
];

/** The same of models that people run themselves, too. */
const OPEN_FAMILIES: typeof FAMILIES = [
  [/deepseek/i, 64_000],
  [/mistral-large|mistral-medium/i, 128_000],
  [/qwen|llama-?[34]/i, 32_768],
];

/** Local servers serve most models with a window far below what the model could take. */
const UNKNOWN_LOCAL = 8_192;
const UNKNOWN_REMOTE = 32_768;

/**
 * What a model can take at a time, in tokens: as the settings say, else by its family, else little.
 * `id` is the one that answers now, as `provider/model`.
 */
export function contextTokensOf(settings: ModelSettings, id: string): number {
  const { model: choice, contextTokens } = settings;
  if (typeof choice === 'string') return contextTokens ?? UNKNOWN_LOCAL;
  if (choice.contextTokens !== undefined) return choice.contextTokens;
  const families = isLocal(choice) ? FAMILIES : [...FAMILIES, ...OPEN_FAMILIES];
  const known = families.find(([family]) => family.test(id))?.[1];
  return known ?? (isLocal(choice) ? UNKNOWN_LOCAL : UNKNOWN_REMOTE);
}

function isLocal({ baseUrl }: ProviderChoice): boolean {
  if (baseUrl === undefined) return false;
  const { hostname } = new URL(baseUrl);
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(hostname);
}

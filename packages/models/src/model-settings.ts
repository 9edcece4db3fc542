import { z } from 'zod';

const Name = z.string().min(1);
const Url = z.url({ protocol: /^https?$/ });

/** The price of a model in US dollars per million tokens; a local model costs 0. */
export const ModelPrice = z.strictObject({
  inputPerMillion: z
    .number()
    .nonnegative()
    .describe('The price of input tokens; 0 for a local model.')
    .meta({ title: 'Input (US$ per million tokens)' }),
  outputPerMillion: z
    .number()
    .nonnegative()
    .describe('The price of output tokens, including reasoning.')
    .meta({ title: 'Output (US$ per million tokens)' }),
  cachedInputPerMillion: z
    .number()
    .nonnegative()
    .optional()
    .describe('For input read from the provider’s prompt cache; the full input price when absent.')
    .meta({ title: 'Cached input (US$ per million tokens)' }),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

/** Shared by all kinds of providers. */
const PROVIDER = { title: 'Model provider', description: 'Where the model runs.' };

const Vision = z
  .boolean()
  .optional()
  .describe(
    'Whether the model accepts pictures; when absent, they are sent, and left out if the server refuses them.',
  );

/** Shared by all providers that are configured as objects. */
const ContextTokens = z
  .int()
  .min(2_048)
  .max(10_000_000)
  .optional()
  .describe('The context window in tokens; guessed from the model’s name when absent.');

/** Shared by all models that are requested from a provider. */
const Price = ModelPrice.optional()
  .describe(
    'Used for the cost of turns and for limits in US dollars; without a price, the cost is unknown.',
  )
  .meta({ title: 'Price of the model' });

const ModelName = Name.describe('The name of the model, as the provider spells it.').meta({
  title: 'Model name',
});

const ApiKey = Name.describe(
  'The key of the provider. Keep it in an environment variable or a file: ${NAME} or ${file:/path}.',
).meta({ title: 'API key' });

const Scalar = z.union([z.string(), z.number(), z.boolean()]);
const Values = z.union([Scalar, z.array(z.union([z.string(), z.number()]))]);

/** Additional request fields that a server accepts, with the nesting that they need. */
const RequestOptions = z
  .record(Name, z.union([Values, z.record(Name, Values)]))
  .optional()
  .describe(
    'Additional fields for each request, with the server’s names: temperature, reasoning_effort …',
  );

const Compatible = z.strictObject({
  provider: z.literal('openai-compatible').meta(PROVIDER),
  baseUrl: Url.describe('The base URL of an OpenAI-compatible server; usually ends in /v1.').meta({
    title: 'Server address',
  }),
  apiKey: Name.optional()
    .describe(
      'Only if the server needs one. Keep it in an environment variable or a file: ${NAME} or ${file:/path}.',
    )
    .meta({ title: 'API key' }),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Additional headers for each request, such as one that a proxy requires.')
    .meta({ title: 'HTTP headers' }),
  options: RequestOptions.meta({ title: 'Request options' }),
  model: ModelName,
  vision: Vision.meta({ title: 'Understands pictures' }),
  contextTokens: ContextTokens.meta({ title: 'Context window (tokens)' }),
  price: Price,
});

const Anthropic = z.strictObject({
  provider: z.literal('anthropic').meta(PROVIDER),
  apiKey: ApiKey,
  model: ModelName,
  baseUrl: Url.optional()
    .describe('A base URL other than the provider’s own, such as that of a proxy.')
    .meta({ title: 'Server address' }),
  vision: Vision.meta({ title: 'Understands pictures' }),
  contextTokens: ContextTokens.meta({ title: 'Context window (tokens)' }),
  price: Price,
});

const OpenAi = Anthropic.extend({
  provider: z.literal('openai').meta(PROVIDER),
});

/** One model of one provider. The key is always configured; none is taken from the environment. */
export const ProviderChoice = z.discriminatedUnion('provider', [Compatible, Anthropic, OpenAi]);
export type ProviderChoice = z.infer<typeof ProviderChoice>;
/** The providers that are called through the AI SDK. */
export type SdkChoice = Exclude<ProviderChoice, { provider: 'openai-compatible' }>;

/**
 * The deadlines of one call, in milliseconds. The first two are at most 300 s, because Node's
 * `fetch`, which is used for redirects, does not wait longer for a silent server.
 */
export const ModelTimeouts = z.strictObject({
  firstTokenMs: z
    .int()
    .positive()
    .max(300_000)
    .default(60_000)
    .describe('How long to wait for the first piece of text or reasoning.')
    .meta({ title: 'First words within (ms)' }),
  chunkMs: z
    .int()
    .positive()
    .max(300_000)
    .default(60_000)
    .describe('How long to wait for the next piece of an answer.')
    .meta({ title: 'Longest pause (ms)' }),
  totalMs: z
    .int()
    .positive()
    .max(3_600_000)
    .default(600_000)
    .describe('How long one model call may take in total.')
    .meta({ title: 'Whole answer within (ms)' }),
});
export type ModelTimeouts = z.infer<typeof ModelTimeouts>;

/** A model that may be chosen in a chat; a name alone refers to the main model's provider. */
const Choice = z.union([Name, ProviderChoice]);

const Extras = {
  choices: z
    .array(Choice)
    .max(50)
    .default([])
    .describe('Models that the owner may choose with /model in a conversation.')
    .meta({ title: 'Models for /model' }),
  fallback: z
    .array(z.union([z.literal('offline'), ProviderChoice]))
    .default([])
    .describe(
      'Models that are called in order if the previous one fails before it has sent any text.',
    )
    .meta({ title: 'Fallback models' }),
  timeouts: ModelTimeouts.prefault({})
    .describe('How long to wait for the model before the call counts as failed.')
    .meta({ title: 'Model time limits' }),
};

/** The value as people write it: a single word, or a block that names its provider. */
const WrittenModel = z.union([
  z.enum(['auto', 'offline']),
  z.discriminatedUnion('provider', [
    // `auto` and `offline` always answer, so they need no fallback.
    z.strictObject({
      provider: z.enum(['auto', 'offline']).meta(PROVIDER),
      contextTokens: ContextTokens.meta({ title: 'Context window (tokens)' }),
      timeouts: Extras.timeouts,
    }),
    Compatible.extend(Extras),
    Anthropic.extend(Extras),
    OpenAi.extend(Extras),
  ]),
]);

/**
 * The `model` settings section: `auto` (a local server if one runs, otherwise the built-in offline
 * model), `offline`, or a provider. Secrets in it were `${ENV}` references that have already been
 * resolved.
 */
export const ModelSettings = WrittenModel.default('auto').transform(normalizeModelSettings);
export type ModelSettings = z.infer<typeof ModelSettings>;

function normalizeModelSettings(written: z.infer<typeof WrittenModel>): {
  readonly model: 'auto' | 'offline' | ProviderChoice;
  readonly fallback: readonly ('offline' | ProviderChoice)[];
  readonly timeouts: ModelTimeouts;
  /** Models that can be chosen in addition to the main model. */
  readonly choices: readonly ProviderChoice[];
  /** The context window of a model that is chosen automatically. */
  readonly contextTokens?: number;
} {
  if (typeof written === 'string') {
    return { model: written, fallback: [], choices: [], timeouts: ModelTimeouts.parse({}) };
  }
  if (!('fallback' in written)) {
    const { provider: model, timeouts, contextTokens } = written;
    return {
      model,
      fallback: [],
      choices: [],
      timeouts,
      ...(contextTokens !== undefined && { contextTokens }),
    };
  }
  const { fallback, timeouts, choices, ...model } = written;
  return {
    model,
    fallback,
    timeouts,
    choices: choices.map((one) =>
      typeof one === 'string' ? deriveSiblingChoice(model, one) : one,
    ),
  };
}

/**
 * The settings for another model from the same provider, without the facts that apply only to the
 * main model.
 */
function deriveSiblingChoice(
  { vision: _, contextTokens: _c, price: _p, ...main }: ProviderChoice,
  model: string,
): ProviderChoice {
  return { ...main, model };
}

/**
 * Separate settings for the main model and each of `choices`, by name and by `provider/name`. If
 * one of them fails, the main model answers in its conversations.
 */
export function listModelChoices(settings: ModelSettings): ReadonlyMap<string, ModelSettings> {
  const { model: main, choices, fallback } = settings;
  if (typeof main === 'string') return new Map();
  const named = choices.flatMap((model): [string, ModelSettings][] => {
    const others = [main, ...choices.filter((one) => one !== model)];
    const chosen = { ...settings, model, choices: others, fallback: [main, ...fallback] };
    return modelNames(model).map((name) => [name, chosen]);
  });
  return new Map([...named, ...modelNames(main).map((name) => [name, settings] as const)]);
}

const modelNames = ({ provider, model }: ProviderChoice) => [model, `${provider}/${model}`];

/** The context windows of models that only their vendors serve, by name; the first match counts. */
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

/** The context windows of models that people also run themselves. */
const OPEN_FAMILIES: typeof FAMILIES = [
  [/deepseek/i, 64_000],
  [/mistral-large|mistral-medium/i, 128_000],
  [/qwen|llama-?[34]/i, 32_768],
];

/** Local servers serve most models with a context window far below the model's own. */
const UNKNOWN_LOCAL = 8_192;
const UNKNOWN_REMOTE = 32_768;

/**
 * The context window of a model, in tokens: as configured, otherwise by its family, otherwise a
 * small default. `id` is the model that answers now, as `provider/model`.
 */
export function getContextTokens(
  settings: Pick<ModelSettings, 'model' | 'contextTokens'>,
  id: string,
): number {
  const { model: choice, contextTokens } = settings;
  if (typeof choice === 'string') return contextTokens ?? UNKNOWN_LOCAL;
  if (choice.contextTokens !== undefined) return choice.contextTokens;
  const families = isLocalProvider(choice) ? FAMILIES : [...FAMILIES, ...OPEN_FAMILIES];
  const known = families.find(([family]) => family.test(id))?.[1];
  return known ?? (isLocalProvider(choice) ? UNKNOWN_LOCAL : UNKNOWN_REMOTE);
}

function isLocalProvider({ baseUrl }: ProviderChoice): boolean {
  if (baseUrl === undefined) return false;
  const { hostname } = new URL(baseUrl);
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(hostname);
}

import type { Clock, Monotonic } from '@parley/core';
import { z } from 'zod';
import { ANTHROPIC_URL, ANTHROPIC_VERSION, OPENAI_URL } from './ai-sdk.ts';
import { DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
import { ModelError, type ModelFailure } from './chat-model.ts';
import { describeFailureCause, describeRemedy } from './explain-failure.ts';
import { httpFetch } from './http-fetch.ts';
import type { ModelSettings, ProviderChoice } from './model-settings.ts';
import { detectLocalServer, detectLocalServers, findUsualServer } from './offline-model.ts';
import { createProviderModel } from './provider-model.ts';

export { detectLocalServers, findUsualServer };

/** The services of a probe. */
export interface ModelProbeEnv {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly fetch?: typeof globalThis.fetch;
}

/** The result never contains a key. */
export type ModelProbe = {
  /** `provider/model`. */
  readonly id: string;
  /** Host and port of the server. */
  readonly server: string;
  /** The models that the server offers; null if it does not list them. */
  readonly models: readonly string[] | null;
  /** The `Date` header from a response, and when the request was sent and answered, in ms. */
  readonly time: {
    readonly date: string;
    readonly asked: number;
    readonly answered: number;
  } | null;
} & (
  | { readonly kind: 'works'; readonly tookMs: number }
  | {
      readonly kind: 'problem';
      readonly failure: ModelFailure['kind'];
      readonly reason: string;
      readonly fix: string;
      readonly retryable: boolean;
    }
);

/** Answers are discarded; OpenAI's API does not accept a smaller limit on tokens. */
const FEWEST_TOKENS = 16;
const QUESTION = 'Answer with one word: ready';

/**
 * Lists the models of a provider and asks the chosen model for a single word. A probe costs a few
 * tokens. Never rejects; the signal sets the deadline.
 */
export async function probeProvider(
  choice: ProviderChoice,
  { signal, clock, monotonic, fetch = httpFetch }: ModelProbeEnv,
): Promise<ModelProbe> {
  const id = `${choice.provider}/${choice.model}`;
  const baseUrl = getBaseUrl(choice);
  const server = new URL(baseUrl).host;
  let time: ModelProbe['time'] = null;
  const noting: typeof fetch = async (...request) => {
    const asked = clock();
    const answer = await fetch(...request);
    const date = answer.headers.get('date');
    if (date !== null) time ??= { date, asked, answered: clock() };
    return answer;
  };
  const startedAt = monotonic();
  const env = { signal, clock, fetch: noting };
  const [failure, models] = await Promise.all([
    probeModel(choice, { id, server }, env),
    listModels(choice, baseUrl, env),
  ]);
  const facts = { id, server, models, time };
  if (failure === null) return { ...facts, kind: 'works', tookMs: monotonic() - startedAt };
  return { ...facts, kind: 'problem', ...failure };
}

type ProbeProblem = Pick<
  Extract<ModelProbe, { kind: 'problem' }>,
  'failure' | 'reason' | 'fix' | 'retryable'
>;

/** Returns null if the model answered. */
async function probeModel(
  choice: ProviderChoice,
  model: { readonly id: string; readonly server: string },
  { signal, clock, fetch }: Required<Omit<ModelProbeEnv, 'monotonic'>>,
): Promise<ProbeProblem | null> {
  const longest = 300_000;
  const timeouts = { firstTokenMs: longest, chunkMs: longest, totalMs: longest };
  const chat = createProviderModel({
    ...model,
    choice,
    timeouts,
    bounds: DEFAULT_ANSWER_BOUNDS,
    clock,
    fetch,
  });
  const messages = [{ role: 'user', content: QUESTION }] as const;
  const request = { system: [], messages, maxOutputTokens: FEWEST_TOKENS };
  try {
    for await (const event of chat.stream(request, signal)) if (event.type === 'finish') break;
    return null;
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    // A model that reasons first has used up its few tokens, so it works.
    if (thrown.failure.kind === 'empty') return null;
    if (thrown.failure.kind === 'aborted') return createProbeTimeoutProblem(model);
    const said = thrown.cause instanceof Error ? thrown.cause.message : '';
    const reason = describeFailureCause(thrown.failure, model, said);
    const { failure, retryable } = thrown;
    return { failure: failure.kind, reason, fix: describeRemedy(failure), retryable };
  }
}

function createProbeTimeoutProblem(model: {
  readonly id: string;
  readonly server: string;
}): ProbeProblem {
  const reason = describeFailureCause({ kind: 'timeout', phase: 'first-token' }, model, '');
  const fix = 'Check that the server is up and not still loading the model, and try again.';
  return { failure: 'timeout', reason, fix, retryable: true };
}

const List = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** Returns null if the server has no list of models; the call itself shows what is wrong. */
async function listModels(
  choice: ProviderChoice,
  baseUrl: string,
  { signal, fetch }: Required<Pick<ModelProbeEnv, 'signal' | 'fetch'>>,
): Promise<readonly string[] | null> {
  try {
    const answer = await fetch(`${baseUrl}/models`, {
      headers: createProbeHeaders(choice),
      signal,
    });
    if (!answer.ok) return null;
    return List.parse(await answer.json()).data.map(({ id }) => id);
  } catch {
    return null;
  }
}

function createProbeHeaders(choice: ProviderChoice): Record<string, string> {
  switch (choice.provider) {
    case 'anthropic':
      return { 'x-api-key': choice.apiKey, 'anthropic-version': ANTHROPIC_VERSION };
    case 'openai':
      return { authorization: `Bearer ${choice.apiKey}` };
    case 'openai-compatible':
      return {
        ...(choice.apiKey !== undefined && { authorization: `Bearer ${choice.apiKey}` }),
        ...choice.headers,
      };
  }
}

function getBaseUrl(choice: ProviderChoice): string {
  const standard = choice.provider === 'anthropic' ? ANTHROPIC_URL : OPENAI_URL;
  return (choice.baseUrl ?? standard).replace(/\/$/, '');
}

/**
 * Returns the models named in the settings, the main one first; a model that is chosen
 * automatically is searched for.
 */
export async function listConfiguredModels(
  { model, fallback, choices }: Pick<ModelSettings, 'model' | 'fallback' | 'choices'>,
  { ollamaHost }: { readonly ollamaHost: string | undefined },
): Promise<readonly ('offline' | ProviderChoice)[]> {
  if (model !== 'auto') return [model, ...fallback, ...choices];
  const server = await detectLocalServer({ ollamaHost });
  return [server === null ? 'offline' : { provider: 'openai-compatible', ...server }];
}

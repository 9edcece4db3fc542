import type { ReportedUsage } from '../chat-model.ts';
import { isObject, type JsonObject } from '../json-object.ts';
import { parseJson, toLenientNumber } from './json-scan.ts';

/** The tokens that a server has counted so far; null if it did not send counts. */
export interface WireUsage {
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
}

export const NO_USAGE: WireUsage = { input: null, output: null, cached: null };

/**
 * Adds the counts in a chunk, from any of the places where servers put them. Many servers send new
 * counts with each chunk, and some send zeros or nothing at the end, so the last informative count
 * is kept.
 */
export function addUsage(known: WireUsage, chunk: JsonObject): WireUsage {
  return listUsageObjects(chunk).reduce((sum: WireUsage, usage) => {
    const { input, output, cached } = readUsageCounts(usage);
    return {
      input: input || sum.input,
      output: output || sum.output,
      cached: cached || sum.cached,
    };
  }, known);
}

/** Returns the counts in the form that the model interface defines. */
export function toReportedUsage({ input, output, cached }: WireUsage): ReportedUsage {
  return {
    inputTokens: { total: input ?? undefined, cacheRead: cached ?? undefined },
    outputTokens: { total: output ?? undefined },
  };
}

/**
 * The fields with token counts: `usage`, also inside the choice (Moonshot) or the message
 * (Anthropic's events); `x_groq.usage`; `usageMetadata` (Gemini); `timings` (llama.cpp), which is
 * the least precise, so any other field replaces it; `prompt_eval_count` at the top level (Ollama's
 * own format).
 */
function listUsageObjects(chunk: JsonObject): readonly JsonObject[] {
  const { choices, message, usage, x_groq, usageMetadata, timings } = chunk;
  const choice: unknown = Array.isArray(choices) ? choices[0] : choices;
  const found = [
    timings,
    'eval_count' in chunk || 'prompt_eval_count' in chunk ? chunk : null,
    usageMetadata,
    isObject(x_groq) ? x_groq.usage : null,
    isObject(choice) ? choice.usage : null,
    isObject(message) ? message.usage : null,
    usage,
  ];
  // Some gateways send the object as a JSON string.
  return found
    .map((one) => (typeof one === 'string' ? parseJson(one) : one))
    .filter((one) => isObject(one));
}

function readUsageCounts(usage: JsonObject): WireUsage {
  const output = findFirstCount(usage, [
    'completion_tokens',
    'output_tokens',
    'candidatesTokenCount',
    'eval_count',
    'predicted_n',
    'tokens_predicted',
  ]);
  const total = findFirstCount(usage, ['total_tokens', 'totalTokenCount']);
  const cached =
    readCachedTokens(usage.prompt_tokens_details) ??
    readCachedTokens(usage.input_tokens_details) ??
    findFirstCount(usage, [
      'prompt_cache_hit_tokens',
      'cached_tokens',
      'cache_read_input_tokens',
      'cachedContentTokenCount',
      'cache_n',
    ]);
  const given = findFirstCount(usage, [
    'prompt_tokens',
    'input_tokens',
    'promptTokenCount',
    'prompt_eval_count',
    'tokens_evaluated',
  ]);
  // llama.cpp counts only the tokens that it had to process; all other servers also count cached
  // tokens.
  const read = toLenientNumber(usage.prompt_n);
  const fromTimings = read === null ? null : read + (cached ?? 0);
  const rest = total !== null && output !== null ? total - output : null;
  return { input: given ?? fromTimings ?? toPositiveCount(rest), output, cached };
}

function readCachedTokens(details: unknown): number | null {
  const object = typeof details === 'string' ? parseJson(details) : details;
  return isObject(object) ? findFirstCount(object, ['cached_tokens', 'cache_read_tokens']) : null;
}

/** Returns the first of these counts that is present, as an integer. */
function findFirstCount(usage: JsonObject, names: readonly string[]): number | null {
  for (const name of names) {
    const count = toPositiveCount(toLenientNumber(usage[name]));
    if (count !== null) return count;
  }
  return null;
}

function toPositiveCount(count: number | null): number | null {
  return count === null || count < 0 ? null : Math.round(count);
}

/** A bound on tokens, or a full context. */
const LENGTH: ReadonlySet<string> = new Set([
  'length',
  'max_tokens',
  'maxtokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_length',
  'model_length',
  'token_limit',
  'token_limit_reached',
  'context_length',
  'context_length_exceeded',
  'model_context_window_exceeded',
  'incomplete',
  'truncated',
]);

/** A filter of the provider ended it. */
const FILTER: ReadonlySet<string> = new Set([
  'content_filter',
  'content_filtered',
  'contentfilter',
  'safety',
  'image_safety',
  'recitation',
  'language',
  'blocklist',
  'prohibited_content',
  'spii',
  'refusal',
  'sensitive',
  'guardrail_intervened',
  'error_toxic',
  'risk_control',
  'moderation',
]);

/** The provider gave up in the middle. */
const ERROR: ReadonlySet<string> = new Set([
  'insufficient_system_resource',
  'network_error',
  'error',
  'aborted',
]);

const CALLS: ReadonlySet<string> = new Set([
  'tool_calls',
  'tool_call',
  'tool_use',
  'function_call',
]);
const STOP: ReadonlySet<string> = new Set([
  'stop',
  'end_turn',
  'stop_sequence',
  'eos',
  'eos_token',
  'complete',
  'completed',
  'pause_turn',
]);

/**
 * Why an answer ended, from the word that the server wrote: one of those of `ModelFinish`. `fallback` where it wrote
 * none, or one that is not known.
 */
export function finishReasonOf(raw: string | null | undefined, fallback: string): string {
  const word =
    raw
      ?.trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_')
      .replace(/^finish_?reason_/, '') ?? '';
  if (LENGTH.has(word)) return 'length';
  if (FILTER.has(word)) return 'content-filter';
  if (ERROR.has(word)) return 'error';
  if (CALLS.has(word)) return 'tool-calls';
  return STOP.has(word) ? 'stop' : fallback;
}

import type { FinishReason } from './answer-parts.ts';

/**
 * Finish reasons, one per line, in lower case and separated by `_`. The first matching row counts:
 * `error_toxic` is a filter, and `model_context_window_exceeded` a limit.
 */
const REASONS: readonly (readonly [FinishReason, readonly string[]])[] = [
  ['tool-calls', ['^(?:tool|function)_?(?:calls?|use)$', '^tools$']],
  [
    'content-filter',
    [
      'filter',
      'safety',
      'sensitive',
      'recitation',
      'prohibited',
      'blocklist',
      'refus',
      'moderat',
      'toxic',
      'guardrail',
      'risk_control',
      '^spii$',
      '^language$',
    ],
  ],
  [
    'length',
    [
      'length',
      'max_?(?:output_?|new_?|completion_?)?tokens',
      'token_(?:limit|budget)',
      'truncat',
      'context_window',
      'context_(?:full|exceeded)',
      '^incomplete$',
    ],
  ],
  [
    'error',
    ['error', 'insufficient_system_resource', 'abort', 'cancel', 'fail', 'malformed', 'timeout'],
  ],
  ['stop', ['^stop', '^eos', '^end', '^complete', '^finish', '^done$', '^success', '^pause_turn$']],
];

const PATTERNS = REASONS.map(([reason, words]) => [reason, new RegExp(words.join('|'))] as const);

/** Why an answer ended, derived from the server's finish reason; `other` if that is unknown. */
export function toFinishReasonName(raw: string): FinishReason {
  const word = raw
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/^finish_?reason_/, '');
  return PATTERNS.find(([, pattern]) => pattern.test(word))?.[0] ?? 'other';
}

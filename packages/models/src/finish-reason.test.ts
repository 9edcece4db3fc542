import { describe, expect, it } from 'vitest';
import { toFinishReasonName } from './finish-reason.ts';

describe('the finish reason of an answer', () => {
  it.each([
    [
      'length',
      [
        'length',
        'max_tokens',
        'MAX_TOKENS',
        'model_length',
        'max_output_tokens',
        'FINISH_REASON_MAX_TOKENS',
        'incomplete',
        'model_context_window_exceeded',
        'max-tokens',
        'MaxTokens',
        'token_limit_reached',
        'truncated',
      ],
    ],
    [
      'content-filter',
      [
        'content_filter',
        'content-filter',
        'SAFETY',
        'RECITATION',
        'PROHIBITED_CONTENT',
        'BLOCKLIST',
        'SPII',
        'content_filtered',
        'refusal',
        'sensitive',
        'guardrail_intervened',
        'ERROR_TOXIC',
      ],
    ],
    [
      'error',
      ['insufficient_system_resource', 'network_error', 'aborted', 'MALFORMED_FUNCTION_CALL'],
    ],
    ['tool-calls', ['tool_calls', 'function_call', 'tool_use']],
    [
      'stop',
      ['stop', 'end_turn', 'STOP', 'eos_token', 'COMPLETE', 'FINISH_REASON_STOP', 'pause_turn'],
    ],
  ])('[G21] is derived from the words of all providers: %s', (reason, words) => {
    expect(words.map((word) => toFinishReasonName(word))).toEqual(words.map(() => reason));
  });

  it.each(['', 'something new', 'stateful', 'unknown'])(
    '[G21] is not guessed from the unknown word %j',
    (word) => {
      expect(toFinishReasonName(word)).toBe('other');
    },
  );
});

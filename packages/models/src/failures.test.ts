import { describe, expect, it } from 'vitest';
import { ModelError, type ModelFailure } from './chat-model.ts';
import { explainFailure } from './explain-failure.ts';
import { classifyFailure, collectCallFailureDetails } from './failures.ts';
import { findRetryAfterMs } from './retry-after.ts';

/** An error in the shape that the AI SDK throws for an HTTP status. */
function http(statusCode: number, error: object | string = '', responseHeaders = {}) {
  const responseBody = typeof error === 'string' ? error : JSON.stringify({ error });
  return { name: 'AI_APICallError', message: 'Bad', statusCode, responseBody, responseHeaders };
}

/** The chain of causes in which a socket error arrives. */
function network(code: string, statusCode?: number) {
  const socket = Object.assign(new Error('socket'), { code });
  const cause = new TypeError('fetch failed', { cause: socket });
  return { name: 'AI_APICallError', message: 'Cannot connect to API', statusCode, cause };
}

const kindOf = (thrown: unknown) => classifyFailure(collectCallFailureDetails(thrown), 0).kind;

describe('the classification of a failed call', () => {
  it.each([
    [401, 'unauthorised'],
    [402, 'no-credit'],
    [403, 'unauthorised'],
    [404, 'not-found'],
    [408, 'overloaded'],
    [413, 'too-long'],
    [422, 'refused'],
    [429, 'rate-limited'],
    [500, 'overloaded'],
    [503, 'overloaded'],
    [529, 'overloaded'],
  ])('[G01] status %i is classified as %s', (status, kind) => {
    expect(kindOf(http(status))).toBe(kind);
    const ofPage = status === 403 ? 'blocked' : kind;
    expect(kindOf(http(status, '<html>gateway</html>'))).toBe(ofPage);
  });

  it.each([
    ['OpenAI: context', http(400, { code: 'context_length_exceeded', message: 'x' }), 'too-long'],
    ['Anthropic: context', http(400, { message: 'prompt is too long: 9 > 8 maximum' }), 'too-long'],
    [
      'llama.cpp: context',
      http(400, { message: 'the request exceeds the available context size' }),
      'too-long',
    ],
    [
      'Ollama: tools',
      http(400, { message: 'registry.ollama.ai/library/gemma:2b does not support tools' }),
      'no-tools',
    ],
    [
      'vLLM: tools',
      http(400, { message: '"auto" tool choice requires --enable-auto-tool-choice to be set' }),
      'no-tools',
    ],
    ['llama.cpp: tools', http(500, { message: 'tools param requires --jinja flag' }), 'no-tools'],
    [
      'OpenRouter: tools',
      http(404, { message: 'No endpoints found that support tool use.' }),
      'no-tools',
    ],
    [
      'Mistral: order',
      http(
        400,
        JSON.stringify({
          object: 'error',
          message: "Unexpected role 'user' after role 'tool'",
          type: 'invalid_request_message_order',
          code: '3230',
        }),
      ),
      'message-order',
    ],
    [
      'llama.cpp: order',
      http(500, {
        code: 500,
        message:
          'Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
        type: 'server_error',
      }),
      'message-order',
    ],
    [
      'OpenRouter: order',
      http(400, {
        message: 'Provider returned error',
        metadata: { raw: `{"message":"Unexpected role 'user' after role 'tool'"}` },
      }),
      'message-order',
    ],
    [
      'Perplexity: order',
      http(400, { message: 'user and assistant roles should be alternating.' }),
      'message-order',
    ],
    [
      'DeepSeek: order',
      http(400, { message: 'x does not support successive user or assistant messages (messages' }),
      'message-order',
    ],
    ['OpenAI: quota', http(429, { code: 'insufficient_quota', message: 'x' }), 'no-credit'],
    ['Anthropic: credit', http(400, { message: 'Your credit balance is too low' }), 'no-credit'],
    [
      'Anthropic: tokens per minute',
      http(429, { message: "would exceed your organization's rate limit of 40,000 input tokens" }),
      'rate-limited',
    ],
    [
      'Google: tokens per minute',
      http(429, { message: 'exceeded the quota of input tokens' }),
      'rate-limited',
    ],
    [
      "a quota that is only this minute's",
      http(429, { message: 'check your plan and billing' }, { 'retry-after': '9' }),
      'rate-limited',
    ],
    ['a server whose billing fails', http(500, { message: 'billing is down' }), 'overloaded'],
    ['a capital word of a provider', { code: 'EXPIRED', message: 'x' }, 'refused'],
    ['Azure: filter', http(400, { code: 'content_filter', message: 'x' }), 'filtered'],
    [
      'in the stream: overloaded',
      { type: 'overloaded_error', message: 'Overloaded' },
      'overloaded',
    ],
    ['in the stream: rate', { type: 'rate_limit_error', message: 'slow down' }, 'rate-limited'],
    ['in the stream: a bare sentence', 'exceeds the context window', 'too-long'],
    ['text that is not JSON', { name: 'AI_JSONParseError', message: 'x' }, 'rubbish'],
    ['JSON of another shape', { name: 'AI_TypeValidationError', message: 'x' }, 'rubbish'],
    [
      'an event without end',
      { name: 'Error', message: 'it sent more than 9 bytes at once' },
      'rubbish',
    ],
    ['no body at all', { name: 'AI_EmptyResponseBodyError', message: 'x' }, 'empty'],
    ['nothing that is known', undefined, 'refused'],
  ])('[G01] classifies %s', (_name, thrown, kind) => {
    expect(kindOf(thrown)).toBe(kind);
  });

  it.each([
    ['ECONNREFUSED', 'unreachable'],
    ['ENOTFOUND', 'unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'unreachable'],
    ['CERT_HAS_EXPIRED', 'unreachable'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable'],
    ['ECONNRESET', 'broken-off'],
    ['UND_ERR_SOCKET', 'broken-off'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ])(
    '[G01] network error %s is classified as %s, even in the middle of an answer',
    (code, kind) => {
      expect(kindOf(network(code))).toBe(kind);
      expect(kindOf(network(code, 200))).toBe(kind);
    },
  );

  it('[G01] keeps the delay that a rate-limited provider asks for', () => {
    const facts = collectCallFailureDetails(http(429, '', { 'retry-after': '7' }));
    expect(classifyFailure(facts, 0)).toEqual({ kind: 'rate-limited', retryAfterMs: 7_000 });
  });
});

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '20' }, 20_000],
    ['parts of a second', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    ['milliseconds, which are more exact', { 'retry-after': '2', 'retry-after-ms': '1500' }, 1_500],
    ['nothing', {}, null],
    ['nonsense', { 'retry-after': 'soon' }, null],
    ['longer than a day', { 'retry-after': '99999999' }, null],
  ])('extracts %s', (_name, headers: Record<string, string>, expected) => {
    expect(findRetryAfterMs({ headers }, NOW)).toBe(expected);
  });
});

const ALL: readonly ModelFailure[] = [
  { kind: 'unreachable' },
  { kind: 'broken-off' },
  { kind: 'unreachable', because: 'certificate' },
  { kind: 'unauthorised' },
  { kind: 'blocked' },
  { kind: 'no-credit' },
  { kind: 'not-found' },
  { kind: 'rate-limited', retryAfterMs: 1_500 },
  { kind: 'overloaded' },
  { kind: 'too-long' },
  { kind: 'too-long', windowTokens: 8_192 },
  { kind: 'output-limit', limitTokens: 4_096 },
  { kind: 'refused' },
  { kind: 'no-tools' },
  { kind: 'message-order' },
  { kind: 'filtered' },
  { kind: 'rubbish' },
  { kind: 'empty' },
  { kind: 'endless' },
  { kind: 'timeout', phase: 'first-token' },
  { kind: 'timeout', phase: 'stalled' },
  { kind: 'timeout', phase: 'total' },
  { kind: 'aborted' },
];
const model = { id: 'anthropic/claude', server: 'api.example.org' };

describe('the text for a failure', () => {
  it.each(ALL)('[G01] names the model and consists of complete sentences: $kind', (failure) => {
    expect(explainFailure(failure, model, 'words')).toMatch(/anthropic\/claude.*\.$/);
  });

  it('[G01] states the delay that a rate-limited model asks for, rounded up', () => {
    const words = explainFailure({ kind: 'rate-limited', retryAfterMs: 1_500 }, model, '');
    expect(words).toContain('asks to wait 2 s');
  });

  it('never repeats what a provider says about a key, because some echo the key', () => {
    const said = 'Incorrect API key provided: sk-12345';
    expect(explainFailure({ kind: 'unauthorised' }, model, said)).not.toContain('sk-12345');
  });

  it('quotes a provider on one line of at most 200 characters', () => {
    const words = explainFailure({ kind: 'refused' }, model, `a\n\nb${'x'.repeat(500)}`);
    expect(words).toContain(`(“a b${'x'.repeat(197)}…”)`);
  });
});

describe('a model error', () => {
  it.each([
    ['unreachable', true],
    ['broken-off', true],
    ['overloaded', true],
    ['empty', true],
    ['unauthorised', false],
    ['no-credit', false],
    ['not-found', false],
    ['too-long', false],
    ['refused', false],
    ['no-tools', false],
    ['message-order', false],
    ['filtered', false],
    ['rubbish', false],
    ['aborted', false],
  ] as const)('[G01] can be retried if its kind is %s: %s', (kind, retryable) => {
    const error = new ModelError({ kind }, 'p/m', 'words');
    expect(error).toMatchObject({ code: `model-${kind}`, retryable, model: 'p/m' });
  });
});

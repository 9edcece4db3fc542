import { describe, expect, it } from 'vitest';
import { toCallFailure, toRepeatableError, toSendError } from './failures.ts';

function failed(fields: object, message = 'it failed'): Error {
  return Object.assign(new Error(message), fields);
}

const named = (name: string, fields: object = {}) => failed({ name, ...fields });
const slack = (error: string) => failed({ code: 'slack_webapi_platform_error', data: { error } });
const limited = (retryAfterMs: number) => ({
  failure: { kind: 'rate-limited', retryAfterMs, scope: 'chat' },
});
const account = { failure: { kind: 'transient' }, isAccount: true };

describe('an error thrown by an adapter', () => {
  it.each<[string, unknown, object]>([
    ['a rate limit', named('AdapterRateLimitError', { retryAfter: 3 }), limited(3_000)],
    ['a rate limit without a time', named('AdapterRateLimitError'), limited(5_000)],
    ['a refused account', named('AuthenticationError'), account],
    ['a missing right', named('PermissionError'), { failure: { kind: 'forbidden' } }],
    ['a missing chat', named('ResourceNotFoundError'), { failure: { kind: 'gone' } }],
    ['what it refuses itself', named('ValidationError'), { failure: { kind: 'refused-format' } }],
    ['what it cannot do', named('NotImplementedError'), { failure: { kind: 'refused' } }],
    [
      'a rate limit of Slack',
      failed({ code: 'slack_webapi_rate_limited_error', retryAfter: 2 }),
      limited(2_000),
    ],
    ['an archived channel of Slack', slack('is_archived'), { failure: { kind: 'gone' } }],
    ['a revoked token of Slack', slack('token_revoked'), account],
    ['an unclear answer of Slack', slack('fatal_error'), { failure: { kind: 'unknown-outcome' } }],
    [
      'a closed window of WhatsApp',
      named('WhatsAppApiError', { status: 400, errorCode: 131_047 }),
      { failure: { kind: 'forbidden' } },
    ],
    [
      'a rate limit of WhatsApp',
      named('WhatsAppApiError', { status: 400, errorCode: 131_056 }),
      limited(5_000),
    ],
    [
      'an expired token of WhatsApp',
      named('WhatsAppApiError', { status: 401, errorCode: 190 }),
      account,
    ],
    [
      'a rate limit of Linear',
      failed({ type: 'Ratelimited', status: 400, retryAfter: 7 }),
      limited(7_000),
    ],
    ['a wrong key of Linear', failed({ type: 'AuthenticationError', status: 400 }), account],
    [
      'a missing right on Linear',
      failed({ type: 'Forbidden', status: 200 }),
      { failure: { kind: 'forbidden' } },
    ],
    [
      'a missing issue of Linear',
      failed({ type: 'InvalidInput', status: 200 }),
      { failure: { kind: 'refused' } },
    ],
    [
      'a refused connection to Linear',
      failed({ type: 'Unknown', raw: failed({ code: 'ECONNREFUSED' }) }),
      { failure: { kind: 'transient', untried: true } },
    ],
    ['a status of GitHub', failed({ status: 422 }), { failure: { kind: 'refused' } }],
    [
      'too many writes on GitHub',
      failed({ status: 403, response: { status: 403, headers: { 'retry-after': '60' } } }),
      limited(60_000),
    ],
    ['a missing right on GitHub', failed({ status: 403 }), { failure: { kind: 'forbidden' } }],
    ['a status of Google as text', failed({ status: '404' }), { failure: { kind: 'gone' } }],
    [
      'an inner status',
      named('NetworkError', { originalError: failed({ statusCode: 404 }) }),
      { failure: { kind: 'gone' } },
    ],
    [
      'a server error',
      failed({ response: { status: 503 } }),
      { failure: { kind: 'unknown-outcome' } },
    ],
    [
      'a refused connection',
      failed({ code: 'slack_webapi_request_error', original: failed({ code: 'ECONNREFUSED' }) }),
      { failure: { kind: 'transient', untried: true } },
    ],
    [
      'a broken connection',
      named('NetworkError', { originalError: failed({ code: 'ECONNRESET' }) }),
      { failure: { kind: 'unknown-outcome' } },
    ],
    ['anything else', 'what', { failure: { kind: 'unknown-outcome' } }],
  ])('[D05] classifies an error about %s', (_what, thrown, expected) => {
    expect(toCallFailure(thrown)).toMatchObject({ isAccount: false, ...expected });
  });

  it('does not loop over causes that refer to each other', () => {
    const [one, two] = [failed({}, 'one'), failed({}, 'two')];
    Object.assign(one, { cause: two });
    Object.assign(two, { cause: one });
    expect(toCallFailure(one)).toMatchObject({ reason: 'one' });
  });

  it('describes what happened, what it concerns, and what to do', () => {
    const { message } = toSendError(named('AuthenticationError'), 'Slack chat C1');
    expect(message).toBe("Slack chat C1: it failed. Check the account's credentials.");
  });

  it('does not report uncertainty for a call that is safe to repeat', () => {
    expect(toRepeatableError(failed({ code: 'ECONNRESET' }), 'An edit').failure.kind).toBe(
      'transient',
    );
    expect(toRepeatableError(failed({ status: 404 }), 'An edit').failure.kind).toBe('gone');
  });
});

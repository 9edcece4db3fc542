import { describe, expect, it } from 'vitest';
import { type CallOutcome, callOutcome, type FailedCall } from './send-outcome.ts';

const failed = (code: string, more: object = {}, message = code) =>
  Object.assign(new Error(message), { code, ...more });
const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
const brokeAfter = (bytesWritten: number) =>
  failed('UND_ERR_SOCKET', { socket: { bytesWritten } }, 'other side closed');
const inCircle = failed('EPIPE');
inCircle.cause = inCircle;

const ROWS: readonly (readonly [what: string, facts: FailedCall, outcome: CallOutcome])[] = [
  ['a refused connection', { error: failed('ECONNREFUSED') }, 'not-sent'],
  ['a name that is not found', { error: failed('ENOTFOUND') }, 'not-sent'],
  ['a name server that is away', { error: failed('EAI_AGAIN') }, 'not-sent'],
  ['no way to the host', { error: failed('EHOSTUNREACH', { syscall: 'connect' }) }, 'not-sent'],
  ['a host that went away', { error: failed('EHOSTUNREACH', { syscall: 'read' }) }, 'unknown'],
  [
    'a connection too slow to open',
    { error: failed('ETIMEDOUT', { syscall: 'connect' }) },
    'not-sent',
  ],
  [
    'an open connection that timed out',
    { error: failed('ETIMEDOUT', { syscall: 'read' }) },
    'unknown',
  ],
  ['a connect timeout of undici', { error: failed('UND_ERR_CONNECT_TIMEOUT') }, 'not-sent'],
  ['no headers in time', { error: failed('UND_ERR_HEADERS_TIMEOUT') }, 'unknown'],
  ['an expired certificate', { error: failed('CERT_HAS_EXPIRED') }, 'not-sent'],
  ['a revoked certificate', { error: failed('CERT_REVOKED') }, 'not-sent'],
  ['a certificate of another host', { error: failed('ERR_TLS_CERT_ALTNAME_INVALID') }, 'not-sent'],
  ['a self-signed certificate', { error: failed('DEPTH_ZERO_SELF_SIGNED_CERT') }, 'not-sent'],
  ['a server without TLS', { error: failed('ERR_SSL_WRONG_VERSION_NUMBER') }, 'not-sent'],
  ['a broken TLS record', { error: failed('ERR_SSL_BAD_RECORD_TYPE') }, 'unknown'],
  [
    'a reset during the TLS handshake',
    {
      error: failed(
        'ECONNRESET',
        {},
        'Client network socket disconnected before secure TLS connection was established',
      ),
    },
    'not-sent',
  ],
  ['a proxy that refuses', { error: failed('ERR_PROXY_TUNNEL') }, 'not-sent'],
  ['a reset', { error: failed('ECONNRESET', { syscall: 'read' }) }, 'unknown'],
  ['a broken pipe', { error: failed('EPIPE', { syscall: 'write' }) }, 'unknown'],
  ['a hang-up', { error: failed('ECONNRESET', {}, 'socket hang up') }, 'unknown'],
  ['a break before the first byte', { error: fetchFailed(brokeAfter(0)) }, 'not-sent'],
  ['a break after some bytes', { error: fetchFailed(brokeAfter(1)) }, 'unknown'],
  ['a cause far down', { error: fetchFailed(fetchFailed(failed('ECONNREFUSED'))) }, 'not-sent'],
  ['causes in a circle', { error: inCircle }, 'unknown'],
  [
    'two addresses that refuse',
    {
      error: new AggregateError([
        failed('ECONNREFUSED'),
        failed('ENETUNREACH', { syscall: 'connect' }),
      ]),
    },
    'not-sent',
  ],
  [
    'two addresses, one of them reset',
    { error: new AggregateError([failed('ECONNREFUSED'), failed('ECONNRESET')]) },
    'unknown',
  ],
  [
    'words of node-fetch',
    { error: new Error('request to http://h/ failed, reason: connect EHOSTUNREACH 10.0.0.1') },
    'not-sent',
  ],
  ['no answer in time', { error: new DOMException('aborted', 'AbortError') }, 'unknown'],
  [
    'the same before the connection was ready',
    { error: new DOMException('aborted', 'AbortError'), connected: false },
    'not-sent',
  ],
  [
    'a reset before the connection was ready',
    { error: failed('ECONNRESET'), connected: false },
    'not-sent',
  ],
  [
    'a reset on a connection that was kept',
    { error: failed('ECONNRESET'), connected: true },
    'unknown',
  ],
  ['a refusal', { error: failed('ETELEGRAM'), status: 400 }, 'refused'],
  ['too many requests', { error: failed('ETELEGRAM'), status: 429 }, 'refused'],
  ['a gateway in between', { error: failed('ETELEGRAM'), status: 502 }, 'unknown'],
  ['half an answer', { error: new SyntaxError('no JSON'), status: 200 }, 'unknown'],
  ['a defect', { error: new TypeError('x is not a function') }, 'unknown'],
  ['no error at all', { error: 'ECONNREFUSED' }, 'unknown'],
];

describe('the outcome of a failed call', () => {
  it.each(ROWS)('[D04] %s', (_what, facts, outcome) => {
    expect(callOutcome(facts)).toBe(outcome);
  });
});

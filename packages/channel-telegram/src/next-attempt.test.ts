import { describe, expect, it } from 'vitest';
import type { CallFailure } from './failures.ts';
import { planNextAttempt, type SendAttempt } from './failures.ts';

const FIRST: SendAttempt = { chatId: '-5', html: true, asDocument: false };
const refused = (reason: string, more: object = {}): CallFailure => ({
  kind: 'refused',
  code: 400,
  reason: `Bad Request: ${reason}`,
  ...more,
});

describe('after a refused send', () => {
  it.each<[string, CallFailure, Partial<SendAttempt>]>([
    ['markup is left out', refused("can't parse entities: x"), { html: false }],
    ['a moved group is followed', refused('upgraded', { migrateTo: '-100' }), { chatId: '-100' }],
    ['a picture is sent as a file', refused('PHOTO_INVALID_DIMENSIONS'), { asDocument: true }],
    ['a broken picture is sent as a file', refused('IMAGE_PROCESS_FAILED'), { asDocument: true }],
    ['a voice note is sent as a file', refused('VOICE_MESSAGES_FORBIDDEN'), { asDocument: true }],
  ])('[M04] retries once: %s', (_name, failure, change) => {
    const next = planNextAttempt(FIRST, failure)?.attempt;
    expect(next).toEqual({ ...FIRST, ...change });
    expect(next && planNextAttempt(next, failure)).toBeUndefined();
  });

  it.each<[string, CallFailure]>([
    ['any other refusal', refused('message is too long')],
    ['a rate limit', { kind: 'refused', code: 429, reason: 'slow', retryAfterMs: 1 }],
    ['a connection that was never established', { kind: 'not-sent', reason: 'ECONNREFUSED' }],
    ['an unknown outcome', { kind: 'unknown', reason: "can't parse entities" }],
  ])('[D04] does not send again after %s', (_name, failure) => {
    expect(planNextAttempt(FIRST, failure)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { type GuardFacts, guard } from './guard.ts';

const TOKEN = 'a'.repeat(32);
const HOST = '127.0.0.1:7411';

function judged(facts: Partial<GuardFacts>, boundHost = '127.0.0.1'): string {
  const complete = {
    host: HOST,
    origin: undefined,
    cookie: undefined,
    authorization: undefined,
    ...facts,
  };
  const decision = guard(complete, TOKEN, boundHost);
  return decision.kind === 'pass' ? 'pass' : String(decision.status);
}

describe('the guard of the web server', () => {
  it.each<[string, Partial<GuardFacts>, string]>([
    ['no token', {}, '401'],
    ['the cookie', { cookie: TOKEN }, 'pass'],
    ['a wrong cookie', { cookie: 'b'.repeat(32) }, '401'],
    ['a cookie cut short', { cookie: TOKEN.slice(1) }, '401'],
    ['an empty cookie', { cookie: '' }, '401'],
    ['the bearer token', { authorization: `Bearer ${TOKEN}` }, 'pass'],
    ['a wrong bearer token', { authorization: 'Bearer x' }, '401'],
    ['a wrong bearer token beside the cookie', { authorization: 'Bearer x', cookie: TOKEN }, '401'],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, '401'],
    ['our own page', { cookie: TOKEN, origin: `http://${HOST}` }, 'pass'],
    ['our own page behind TLS', { cookie: TOKEN, origin: `https://${HOST}` }, 'pass'],
    ['another site', { cookie: TOKEN, origin: 'https://evil.example' }, '403'],
    ['another port of this machine', { cookie: TOKEN, origin: 'http://127.0.0.1:3000' }, '403'],
    ['a page without an origin', { cookie: TOKEN, origin: 'null' }, '403'],
    ['a name that is rebound to us', { cookie: TOKEN, host: 'evil.example:7411' }, '403'],
    ['no name', { cookie: TOKEN, host: undefined }, '403'],
    ['localhost', { cookie: TOKEN, host: 'localhost:7411' }, 'pass'],
    ['IPv6 loopback', { cookie: TOKEN, host: '[::1]:7411' }, 'pass'],
    ['a name that begins like ours', { cookie: TOKEN, host: 'localhost.evil.example' }, '403'],
  ])('[U03] %s: %o is %s', (_case, facts, expected) => {
    expect(judged(facts)).toBe(expected);
  });

  it.each(['0.0.0.0', '192.168.1.5', '::'])(
    '[U03] a gateway that is served on %s takes any name, and still wants the token',
    (boundHost) => {
      expect(judged({ host: 'box.lan:7411', cookie: TOKEN }, boundHost)).toBe('pass');
      expect(judged({ host: 'box.lan:7411' }, boundHost)).toBe('401');
    },
  );
});

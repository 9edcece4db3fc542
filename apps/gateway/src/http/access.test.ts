import { describe, expect, it } from 'vitest';
import { findRefusal } from './access.ts';

const HOST = '127.0.0.1:7411';

function isRefused(
  facts: { readonly host?: string | undefined; readonly origin?: string },
  boundHost = '127.0.0.1',
): boolean {
  return findRefusal({ host: HOST, origin: undefined, ...facts }, boundHost) !== null;
}

describe('the access check of the web server', () => {
  it.each<[string, Parameters<typeof isRefused>[0], boolean]>([
    ['a program', {}, false],
    ['our own page', { origin: `http://${HOST}` }, false],
    ['our own page behind TLS', { origin: `https://${HOST}` }, false],
    ['another site', { origin: 'https://evil.example' }, true],
    ['another port of this machine', { origin: 'http://127.0.0.1:3000' }, true],
    ['a page without an origin', { origin: 'null' }, true],
    ['a name that is rebound to us', { host: 'evil.example:7411' }, true],
    ['no name', { host: undefined }, true],
    ['localhost', { host: 'localhost:7411' }, false],
    ['IPv6 loopback', { host: '[::1]:7411' }, false],
    ['a name that begins like ours', { host: 'localhost.evil.example' }, true],
  ])('[U03] refuses %s: %o with %s', (_case, facts, refused) => {
    expect(isRefused(facts)).toBe(refused);
  });

  it.each(['0.0.0.0', '192.168.1.5', '::'])(
    '[U03] accepts any host name if the gateway is served on %s',
    (boundHost) => expect(isRefused({ host: 'box.lan:7411' }, boundHost)).toBe(false),
  );
});

import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUrl, isPublicAddress, resolveHost } from './addresses.ts';
import { FETCH_LIMITS, fetchResource } from './fetch.ts';

const { signal } = new AbortController();

/**
 * Each of these URLs must be refused before any request is sent; host names are not even looked up.
 */
const HOSTILE = [
  // Loopback addresses in every notation.
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://127.255.255.254/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://localhost../',
  'http://ｌｏｃａｌｈｏｓｔ/',
  'http://api.localhost/',
  'http://localhost.localdomain/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::]/',
  'http://0.0.0.0/',
  'http://0/',
  'http://0.1.2.3/',
  // Private networks.
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://3232235777/',
  'http://0xc0a80101/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://[fc00::1]/',
  'http://[fd12:3456::1]/',
  'http://[fec0::1]/',
  // Link-local addresses and the metadata services of clouds.
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://169.254.1.1/',
  'http://[fe80::1]/',
  'http://[fe80::1%25eth0]/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://metadata.google.internal/',
  'http://metadata/',
  'http://instance-data/',
  'http://vault.corp/',
  'http://printer.local/',
  'http://router.home.arpa/',
  'http://nas.lan/',
  'http://db.internal./',
  // Ranges without web pages: multicast, broadcast, documentation, benchmarking, reserved.
  'http://224.0.0.1/',
  'http://239.255.255.255/',
  'http://255.255.255.255/',
  'http://192.0.0.1/',
  'http://192.0.2.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://192.88.99.1/',
  'http://240.0.0.1/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[2001:2::1]/',
  'http://[100::1]/',
  'http://[4000::1]/',
  // IPv4 embedded in IPv6.
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:0a00:0001::1]/',
  'http://[2001:0:7f00:1::1]/',
  // URLs that are not web pages.
  'file:///etc/passwd',
  'ftp://example.com/',
  'gopher://example.com/',
  'data:text/html,hello',
  'javascript:alert(1)',
  'blob:http://example.com/x',
  'ws://example.com/',
  'unix:/var/run/docker.sock',
  '//example.com/',
  '/etc/passwd',
  'example.com',
  '',
  'http://',
  'http:///',
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://example.com@127.0.0.1/',
  'http://127.0.0.1\\@example.com/',
  'http://127.0.0.1#@example.com/',
  'http://example.com:22/',
  'http://example.com:6379/',
  'https://example.com:7411/',
  'http://example.com:65536/',
];

describe('URLs that are never requested', () => {
  it('include at least a hundred examples', () => {
    expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(100);
  });

  it.each(HOSTILE)('[G06] include %s', async (url) => {
    const resolve = () => Promise.reject(new Error(`${url} was looked up`));
    const rules = { resolve, isAllowed: isPublicAddress };
    const fetched = fetchResource(url, FETCH_LIMITS, signal, rules);
    await expect(fetched).rejects.toMatchObject({ code: 'web-refused', retryable: false });
  });

  it.each(['http://user:hunter2@example.com/'])(
    '[D10] do not show the password of %s in the error',
    (url) => {
      expect(() => checkUrl(url, [80])).toThrow(expect.not.stringContaining('hunter2'));
    },
  );

  it.each([
    'http://example.com/',
    'https://example.com./a?b=c#d',
    'https://8.8.8.8/',
    'http://134744072/',
    'https://[2606:4700::1111]/',
    'https://例え.jp/',
  ])('[G06] do not include the public URL %s', async (url) => {
    const checked = checkUrl(url, [80, 443]);
    const rules = { resolve: async () => ['93.184.215.14'], isAllowed: isPublicAddress };
    expect(isPublicAddress((await resolveHost(checked, rules)).address)).toBe(true);
  });
});

const byte = fc.integer({ min: 0, max: 255 });
const privateV4 = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
  fc.tuple(fc.integer({ min: 224, max: 255 }), byte, byte, byte),
);

describe('a private address', () => {
  it('[G06] is refused in every notation', () => {
    const number = ([a, b, c, d]: readonly number[]) =>
      (((a ?? 0) * 256 + (b ?? 0)) * 256 + (c ?? 0)) * 256 + (d ?? 0);
    const writings: readonly ((parts: readonly number[]) => string)[] = [
      (parts) => parts.join('.'),
      (parts) => String(number(parts)),
      (parts) => `0x${number(parts).toString(16)}`,
      (parts) => `0${number(parts).toString(8)}`,
      (parts) => parts.map((part) => `0x${part.toString(16)}`).join('.'),
      (parts) => parts.map((part) => `0${part.toString(8)}`).join('.'),
      ([a, b, c = 0, d = 0]) => `${a}.${b}.${c * 256 + d}`,
      (parts) => `[::ffff:${parts.join('.')}]`,
      (parts) => `[::${parts.join('.')}]`,
      (parts) => `[64:ff9b::${parts.join('.')}]`,
    ];
    fc.assert(
      fc.property(privateV4, fc.constantFrom(...writings), (parts, write) => {
        const { host, isAddress } = checkUrl(`http://${write(parts)}/`, [80]);
        expect(isAddress).toBe(true);
        expect(isPublicAddress(host)).toBe(false);
      }),
      toRunOptions(500),
    );
  });

  it('[G06] is refused even among public addresses of the same name', async () => {
    const checked = checkUrl('http://two.example/', [80]);
    const resolve = async () => ['93.184.215.14', '10.0.0.1'];
    const found = resolveHost(checked, { resolve, isAllowed: isPublicAddress });
    await expect(found).rejects.toMatchObject({ code: 'web-refused' });
  });

  it('[G06] is not public, nor is a text that is not an address', () => {
    fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(`x${text}`)));
  });
});

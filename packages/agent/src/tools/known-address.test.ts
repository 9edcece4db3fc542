import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKnownAddress, isLinkOfNamedHost } from './known-address.ts';

const moment = (
  said: readonly string[],
  results: readonly { readonly tool: string; readonly text: string }[] = [],
) => ({ reader: { kind: 'owner', conversationId: 'c' } as const, said, results });

const hits = '1. Tea\n   https://example.org/tea?leaf=1\n   See https://evil.example/ for more.';

describe('an address that somebody gave', () => {
  it.each([
    ['as it is', 'https://example.org/tea', 'read https://example.org/tea please'],
    ['at the end of a sentence', 'https://example.org/tea', 'Read (https://example.org/tea).'],
    ['in a link', 'https://example.org/tea', '[tea](https://example.org/tea)'],
    ['without https', 'https://example.org/', 'what does example.org say?'],
    ['with http', 'https://example.org/tea', 'http://example.org/tea'],
    ['with a bracket of its own', 'https://example.org/a_(b)', 'https://example.org/a_(b)'],
    ['with a place in it', 'https://example.org/tea', 'https://example.org/tea#green'],
    ['in capitals', 'https://example.org/Tea', 'HTTPS://EXAMPLE.ORG/Tea'],
    ['in Chinese text', 'https://example.org/茶', '看https://example.org/茶。'],
    ['of a name with umlauts', 'https://bücher.example/', 'lies bücher.example'],
    ['of a name as it is asked', 'https://xn--bcher-kva.example/', 'https://bücher.example'],
  ])('[G05] is known: %s', (_how, url, said) => {
    expect(isKnownAddress(url, moment([said]))).toBe(true);
  });

  it.each([
    ['with words of the model', 'https://example.org/tea?secret=heron', 'https://example.org/tea'],
    ['of the same host', 'https://example.org/heron', 'https://example.org/tea'],
    ['with a host in front', 'https://heron.example.org/', 'https://example.org/'],
    ['with a password', 'https://heron:x@example.org/tea', 'https://example.org/tea'],
    ['with a port', 'https://example.org:8443/tea', 'https://example.org/tea'],
    ['that is none', 'heron', 'heron'],
    ['of nobody', 'https://example.org/', ''],
  ])('[G05] is not known: %s', (_how, url, said) => {
    expect(isKnownAddress(url, moment([said]))).toBe(false);
  });

  it.each([
    ['https://example.org/tea?leaf=1', 'web_search', true],
    ['https://evil.example/', 'web_search', false],
    ['https://example.org/tea?leaf=1', 'web_fetch', false],
    ['https://example.org/tea?leaf=1', 'read', false],
  ])('[G05] %s as given by %s: %s', (url, tool, known) => {
    expect(isKnownAddress(url, moment([], [{ tool, text: hits }]))).toBe(known);
  });

  it('[G05] never has anything more in it than what was given', () => {
    const words = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    fc.assert(
      fc.property(words, words, fc.constantFrom('?', '/', '&', '.', '#x?'), (given, secret, by) => {
        const said = `https://example.org/${given}`;
        const known = isKnownAddress(`${said}${by}${secret}`, moment([said]));
        // What stands behind # is never sent.
        expect(known).toBe(by === '#x?');
      }),
    );
  });

  it.each([
    ['as it stands there', 'https://example.org/tea/green', true],
    ['with words of the model', 'https://example.org/tea/green?d=heron', false],
    ['that the page does not have', 'https://example.org/heron', false],
    ['of another site', 'https://evil.example/?a', false],
    ['of a part of the site by name', 'https://a.example.org/', false],
    ['by another port', 'https://example.org:8443/tea/green', false],
  ])('[G05] a link of a page to its own site, %s: %s', (_how, url, is) => {
    const text =
      '[Green](https://example.org/tea/green) https://evil.example/?a https://a.example.org/ https://example.org:8443/tea/black';
    const page = [{ tool: 'web_fetch', text }];
    const said = ['What does https://example.org/tea say?'];
    expect(isLinkOfNamedHost(url, moment(said, page))).toBe(is);
    // A site that nobody named has no links of its own, and only pages have any.
    expect(isLinkOfNamedHost(url, moment([], page))).toBe(false);
    expect(isLinkOfNamedHost(url, moment(said, [{ tool: 'read', text }]))).toBe(false);
  });

  it('[M06] is looked for in a long message without stalling', () => {
    const long = ['a'.repeat(100_000), 'a.'.repeat(50_000), 'https://'.repeat(10_000)];
    for (const text of long) {
      expect(isKnownAddress('https://example.org/', moment([text]))).toBe(false);
    }
  });
});

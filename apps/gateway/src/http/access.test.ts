import { describe, expect, it } from 'vitest';
import { createWrongTokens, refusalOf } from './access.ts';

const HOST = '127.0.0.1:7411';

function isRefused(
  facts: { readonly host?: string | undefined; readonly origin?: string },
  boundHost = '127.0.0.1',
): boolean {
  return refusalOf({ host: HOST, origin: undefined, ...facts }, boundHost) !== null;
}

describe('the guard of the web server', () => {
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
  ])('[U03] of %s: %o is refused: %s', (_case, facts, refused) => {
    expect(isRefused(facts)).toBe(refused);
  });

  it.each(['0.0.0.0', '192.168.1.5', '::'])(
    '[U03] a gateway that is served on %s takes any name',
    (boundHost) => expect(isRefused({ host: 'box.lan:7411' }, boundHost)).toBe(false),
  );
});

const from = (name: string) => ({ name, isLocal: false });
const MINUTE = 60_000;

function scene() {
  let now = 1_000_000;
  const wrong = createWrongTokens(() => now);
  const guess = (name: string, times = 1): void => {
    for (let nth = 0; nth < times; nth += 1) wrong.wrong(from(name));
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { wrong, guess, pass };
}

describe('wrong tokens', () => {
  it('[U03] cost nothing at first, then a second, then twice as long each time, up to five minutes', () => {
    const { wrong, guess, pass } = scene();
    guess('a', 5);
    const waits = Array.from({ length: 11 }, () => {
      guess('a');
      const ms = wrong.waitMs(from('a'));
      pass(ms);
      expect(wrong.waitMs(from('a'))).toBe(0);
      return ms / 1_000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('[U03] of one sender slow nobody else down, until there are too many in total', () => {
    const { wrong, guess } = scene();
    guess('a', 50);
    expect(wrong.waitMs(from('b'))).toBe(0);
    guess('a', 30);
    expect(wrong.waitMs(from('b'))).toBe(15_000);
    expect(wrong.waitMs({ name: 'here', isLocal: true })).toBe(0);
  });

  it('[U03] are forgotten after the right one, or a quarter of an hour', () => {
    const { wrong, guess, pass } = scene();
    guess('a', 8);
    guess('b', 8);
    wrong.right(from('a'));
    expect([wrong.waitMs(from('a')), wrong.waitMs(from('b'))]).toEqual([0, 4_000]);
    pass(16 * MINUTE);
    guess('b');
    expect(wrong.waitMs(from('b'))).toBe(0);
  });

  it('[U03] of any number of senders take little memory, and still count in total', () => {
    const { wrong, guess } = scene();
    for (let nth = 0; nth < 3_000; nth += 1) guess(`address ${nth}`);
    expect(wrong.size()).toBe(1_000);
    expect(wrong.waitMs(from('the next one'))).toBe(15_000);
  });
});

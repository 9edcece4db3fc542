import { describe, expect, it } from 'vitest';
import { planFetches } from './what-to-fetch.ts';

const channels = new Map([
  ['1', '100'],
  ['2', '200'],
  ['3', '50'],
]);

describe('[D01] the fetches planned after a connect', () => {
  it('cover known and new channels with newer messages, and direct chats, which the gateway does not list', () => {
    const known = [
      { id: '1', lastMessageId: '100' },
      { id: '2', lastMessageId: '201' },
      { id: '4', lastMessageId: '300' },
      { id: '5', lastMessageId: '190' },
    ];
    expect(planFetches({ newest: '200', channels }, known)).toEqual({
      fetch: [
        { channelId: '2', after: '200' },
        { channelId: '3', after: '50' },
        { channelId: '4', after: '200' },
      ],
      left: 0,
    });
  });

  it('are empty on the very first start', () => {
    const known = [{ id: '1', lastMessageId: '100' }];
    expect(planFetches({ channels: new Map() }, known).fetch).toEqual([]);
  });

  it('compare message ids as numbers, not as text', () => {
    const known = [{ id: '9', lastMessageId: '1000' }];
    expect(planFetches({ channels: new Map([['9', '999']]) }, known).fetch).toHaveLength(1);
  });

  it('cover at most ten thousand channels, starting with served channels and then those with the latest messages', () => {
    const strangers = Array.from({ length: 10_500 }, (_, n) => ({
      id: String(1_000 + n),
      lastMessageId: String(1_000 + n),
    }));
    const { fetch, left } = planFetches({ newest: '200', channels }, strangers);
    expect(fetch).toHaveLength(10_000);
    expect(left).toBe(503);
    expect(fetch.slice(0, 4).map(({ channelId }) => channelId)).toEqual(['2', '1', '3', '11499']);
  });
});

import { describe, expect, it } from 'vitest';
import { whatToFetch } from './what-to-fetch.ts';

const channels = new Map([
  ['1', '100'],
  ['2', '200'],
  ['3', '50'],
]);

describe('[D01] what is fetched after a connect', () => {
  it('channels with news, new channels with news, and direct chats, which tell nothing', () => {
    const known = [
      { id: '1', lastMessageId: '100' },
      { id: '2', lastMessageId: '201' },
      { id: '4', lastMessageId: '300' },
      { id: '5', lastMessageId: '190' },
    ];
    expect(whatToFetch({ newest: '200', channels }, known)).toEqual([
      { channelId: '2', after: '200' },
      { channelId: '3', after: '50' },
      { channelId: '4', after: '200' },
    ]);
  });

  it('nothing at the very first start', () => {
    const known = [{ id: '1', lastMessageId: '100' }];
    expect(whatToFetch({ channels: new Map() }, known)).toEqual([]);
  });

  it('younger is not what sorts later as text', () => {
    const known = [{ id: '9', lastMessageId: '1000' }];
    expect(whatToFetch({ channels: new Map([['9', '999']]) }, known)).toHaveLength(1);
  });

  it('at most a thousand channels, those that are served first', () => {
    const strangers = Array.from({ length: 1_050 }, (_, n) => ({
      id: String(1_000 + n),
      lastMessageId: '900',
    }));
    const all = whatToFetch({ newest: '200', channels }, strangers);
    expect(all).toHaveLength(1_000);
    expect(all.slice(0, 3).map(({ channelId }) => channelId)).toEqual(['1', '2', '3']);
  });
});

import { describe, expect, it } from 'vitest';
import { whatToFetch } from './intake.ts';
import { Lanes } from './lanes.ts';

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

/** Work that notes its name when it begins, and ends when told. */
function noted() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, end };
}

it('[D02] the work of a channel is done in order, channels side by side', async () => {
  const { begun, work, end } = noted();
  const lanes = new Lanes();
  lanes.push('a', work('a1'));
  lanes.push('a', work('a2'));
  lanes.push('b', work('b1'));
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});

it('[D01] what was missed comes before what came while it was held', async () => {
  const { begun, work, end } = noted();
  const lanes = new Lanes();
  lanes.hold(0);
  lanes.hold(1);
  lanes.push('a', work('new'));
  lanes.unshift('a', work('missed'));
  lanes.release(0);
  expect(begun).toEqual([]);
  lanes.release(1);
  await end('missed');
  expect(begun).toEqual(['missed', 'new']);
});

it('[D07] a lane that is full takes one piece of work instead of all that follow', async () => {
  const lanes = new Lanes();
  const done: string[] = [];
  const work = (name: string) => async () => void done.push(name);
  lanes.hold(0);
  for (let n = 0; n < 1_005; n += 1) lanes.push('a', work('one'), work('instead'));
  lanes.release(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done.length).toBe(1_001);
  expect(done.at(-1)).toBe('instead');
});

it('[D11] a close waits for what is under way and drops the rest', async () => {
  const { begun, work, end } = noted();
  const lanes = new Lanes();
  lanes.push('a', work('a1'));
  lanes.push('a', work('a2'));
  const closed = lanes.close();
  lanes.push('a', work('a3'));
  await end('a1');
  await closed;
  expect(begun).toEqual(['a1']);
});

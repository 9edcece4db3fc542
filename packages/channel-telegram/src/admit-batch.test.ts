import { describe, expect, it } from 'vitest';
import { admitBatch } from './lanes.ts';

const updates = (...ids: number[]) => ids.map((update_id) => ({ update_id, message: undefined }));

describe('admitting a batch of polled updates', () => {
  it('[D01] confirms all updates once all of them are stored', async () => {
    const result = await admitBatch(
      updates(5, 6, 7),
      5,
      () => 'chat',
      async () => {},
    );
    expect(result).toEqual({ offset: 8 });
  });

  it('keeps the offset when the poll returned nothing', async () => {
    expect(
      await admitBatch(
        [],
        5,
        () => 'chat',
        async () => {},
      ),
    ).toEqual({ offset: 5 });
  });

  it('[D01] confirms only the updates before the first one that could not be stored', async () => {
    const broken = new Error('disk full');
    const take = async ({ update_id }: { update_id: number }) => {
      if (update_id === 6 || update_id === 7) throw broken;
    };
    const lanes = (update: { update_id: number }) => String(update.update_id % 2);
    expect(await admitBatch(updates(5, 6, 7, 8), 5, lanes, take)).toEqual({
      offset: 6,
      failure: broken,
    });
  });

  it('[D02] admits the updates of a chat in order and stops at its first failure, while other chats continue', async () => {
    const taken: number[] = [];
    const take = async ({ update_id }: { update_id: number }) => {
      if (update_id === 1) await new Promise((resolve) => setTimeout(resolve, 5));
      if (update_id === 3) throw new Error('no');
      taken.push(update_id);
    };
    const lanes = (update: { update_id: number }) => (update.update_id % 2 === 1 ? 'odd' : 'even');
    await admitBatch(updates(1, 2, 3, 4, 5), 1, lanes, take);
    expect(taken).toEqual([2, 4, 1]);
  });
});

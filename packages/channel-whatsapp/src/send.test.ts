import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { deriveMessageId, SentMessageStore } from './send.ts';

describe('sent messages', () => {
  it('[D04] have the same id for the same message part, in the form that phones use', () => {
    expect(deriveMessageId('k')).toBe(deriveMessageId('k'));
    expect(deriveMessageId('k')).not.toBe(deriveMessageId('l'));
    expect(deriveMessageId('k')).toMatch(/^3EB0[0-9A-F]{18}$/);
  });

  it('are found after a restart, and only under their own id', async () => {
    const values = createInMemoryAdapterValues();
    await new SentMessageStore(values).keep('A', { conversation: 'words' });
    const again = new SentMessageStore(values);
    expect(await again.find('A')).toMatchObject({ conversation: 'words' });
    expect(await again.find('B')).toBeUndefined();
  });

  it('occupy a limited number of rows', async () => {
    const values = createInMemoryAdapterValues();
    const places = new Set<string>();
    const sent = new SentMessageStore({
      ...values,
      set: async (changes) => {
        for (const { id } of changes) places.add(id);
        await values.set(changes);
      },
    });
    for (let nth = 0; nth < 6_000; nth += 1) await sent.keep(`id ${nth}`, { conversation: 'x' });
    expect(places.size).toBeLessThanOrEqual(2_048);
    expect(await sent.find('id 5999')).toBeDefined();
  });
});

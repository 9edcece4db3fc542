import { whatsapp } from '@parley/channel-whatsapp';
import type { AdapterValues } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import { createScene } from './adapter-scene.ts';

const probe = (values: AdapterValues | null) =>
  whatsapp.probe({}, { signal: AbortSignal.timeout(5_000), clock: Date.now, values });

describe('a probe of a WhatsApp account', () => {
  it('[U02] determines from stored data whether it is linked, without contacting WhatsApp', async () => {
    const { values, double } = await createScene();
    expect(await probe(values)).toMatchObject({ kind: 'works', warnings: [], clock: null });
    expect(double.state()).not.toBe('connected');
    expect(await probe(createInMemoryAdapterValues())).toMatchObject({
      kind: 'unlinked',
      fix: expect.stringContaining('Linked devices'),
    });
  });

  it('[U02] gives advice for a damaged link', async () => {
    const values = createInMemoryAdapterValues();
    await values.set([{ kind: 'credentials', id: 'credentials', value: '{}' }]);
    expect(await probe(values)).toMatchObject({
      kind: 'problem',
      reason: expect.stringContaining('Restore the database'),
    });
  });

  it('[U02] asks the gateway that holds the link', async () => {
    expect(await probe(null)).toMatchObject({ kind: 'unknown' });
  });
});

import { pairOutsideChat, refusePairing } from '@parley/channels';
import { type Clock, change, unwrapAnswer } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';

interface PairingNeeds {
  readonly store: Pick<Store, 'pairing'>;
  readonly clock: Clock;
}

const Code = { code: z.string().max(100) };

export const operations = {
  pair: change(
    'Let a stranger in by their pairing code, or list pending requests if there is no code',
    Code,
    async ({ store, clock }: PairingNeeds, { code }) =>
      unwrapAnswer('pairing-refused', await pairOutsideChat(store, code, clock)),
    { role: 'operator' },
  ),
  refuse: change(
    "Remove a stranger's request from the list",
    Code,
    async ({ store, clock }: PairingNeeds, { code }) =>
      unwrapAnswer('pairing-refused', await refusePairing(store, code, clock)),
    { role: 'operator' },
  ),
};

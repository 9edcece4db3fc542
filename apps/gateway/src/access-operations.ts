import { pairOutsideChat, refusePairing } from '@parley/channels';
import { type Clock, defineChangeOperation, unwrapAnswer } from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';

interface PairingOperationDeps {
  readonly store: Pick<Store, 'pairing'>;
  readonly clock: Clock;
}

const Code = { code: z.string().max(100) };

export const operations = {
  pair: defineChangeOperation(
    'Let a stranger in by their pairing code, or list pending requests if there is no code',
    Code,
    async ({ store, clock }: PairingOperationDeps, { code }) =>
      unwrapAnswer('pairing-refused', await pairOutsideChat(store, code, clock)),
    { role: 'operator' },
  ),
  refuse: defineChangeOperation(
    "Remove a stranger's request from the list",
    Code,
    async ({ store, clock }: PairingOperationDeps, { code }) =>
      unwrapAnswer('pairing-refused', await refusePairing(store, code, clock)),
    { role: 'operator' },
  ),
};

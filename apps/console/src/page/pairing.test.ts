import type { GatewayStatus } from '@parley/gateway/api';
import { describe, expect, it } from 'vitest';
import { listUnlinkedAccounts } from './pairing.tsx';

type Account = GatewayStatus['channels'][number];
const account = (state: Account['state']): Account => ({
  channel: 'whatsapp',
  account: 'default',
  state,
});

describe('accounts waiting for a phone', () => {
  it('[U03] lists accounts whose state is pairing', () => {
    const linked = account({ kind: 'connected', as: 'x' });
    expect(
      listUnlinkedAccounts([linked, account({ kind: 'pairing', code: 'secret', how: 'scan' })]),
    ).toEqual({
      unlinked: [{ id: 'whatsapp/default', channel: 'whatsapp', code: 'secret', how: 'scan' }],
      isMoving: true,
    });
  });

  it.each<[Account['state'], boolean]>([
    [{ kind: 'starting' }, true],
    [{ kind: 'retrying', reason: 'x', nextAttemptAt: 1 }, true],
    [{ kind: 'connected', as: 'x' }, false],
    [{ kind: 'failed', reason: 'x', fix: 'y' }, false],
    [{ kind: 'stopped' }, false],
  ])('polls an account that is %o again soon: %s', (state, isMoving) => {
    expect(listUnlinkedAccounts([account(state)])).toEqual({ unlinked: [], isMoving });
  });
});

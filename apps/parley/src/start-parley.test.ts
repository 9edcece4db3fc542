import type { AccountStatus } from '@parley/gateway';
import { describe, expect, it } from 'vitest';
import { firstStates } from './start-parley.ts';

const at = (state: AccountStatus['state']): AccountStatus[] => [
  { channel: 'telegram', account: 'default', state },
];
const starting = at({ kind: 'starting' });
const connected = at({ kind: 'connected', as: '@polly' });

describe('the first states of the channels', () => {
  it('[U01] are reported as soon as none is still connecting', async () => {
    let looks = 0;
    const status = () => {
      looks += 1;
      return looks < 3 ? starting : connected;
    };
    expect(await firstStates({ status })).toEqual(connected);
  });

  it('[U01] are reported as they are when a channel takes long', async () => {
    expect(await firstStates({ status: () => starting })).toEqual(starting);
  });
});

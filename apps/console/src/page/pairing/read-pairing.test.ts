import { describe, expect, it } from 'vitest';
import { readPairing } from './read-pairing.ts';

const account = (kind: string, more: object = {}) => ({
  channel: 'whatsapp',
  account: 'default',
  state: { kind, ...more },
});

describe('accounts that wait for a phone', () => {
  it('[U03] are those whose state is pairing', () => {
    const channels = [account('connected', { as: 'x' }), account('pairing', { code: 'secret' })];
    expect(readPairing({ channels })).toEqual({
      unlinked: [{ id: 'whatsapp/default', channel: 'whatsapp', code: 'secret' }],
      isMoving: true,
    });
  });

  it.each([
    ['starting', true],
    ['retrying', true],
    ['connected', false],
    ['failed', false],
    ['stopped', false],
  ])('are looked for again soon while one is %s: %s', (kind, isMoving) => {
    expect(readPairing({ channels: [account(kind)] })).toEqual({ unlinked: [], isMoving });
  });

  it.each([null, 'text', {}, { channels: 'x' }, { channels: [null, { state: 'x' }] }])(
    'are none in %o',
    (answer) => {
      expect(readPairing(answer)).toEqual({ unlinked: [], isMoving: false });
    },
  );
});

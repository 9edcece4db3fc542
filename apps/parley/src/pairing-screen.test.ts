import type { AccountStatus } from '@parley/gateway';
import qrcode from 'qrcode';
import { describe, expect, it } from 'vitest';
import { createPairingScreen, drawCode } from './pairing-screen.ts';

const CODE = `https://wa.me/settings/linked_devices#2@${'Ab3/'.repeat(50)},key,key,key,1`;

function status(state: AccountStatus['state']): AccountStatus {
  return { channel: 'whatsapp', account: 'default', state };
}

function screenOf(isTTY: boolean) {
  const written: string[] = [];
  let wake: () => void = () => {};
  const write = (text: string): void => {
    written.push(text);
    wake();
  };
  const until = async (count: number): Promise<void> => {
    while (written.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  return { screen: createPairingScreen({ isTTY, write }), written, until };
}

/** Dark modules of a drawing, row by row: each line is two rows of half blocks. */
function modulesOf(drawing: string): string[] {
  const lines = drawing.split('\n').map((line) => line.split('\u001b').join(''));
  const body = lines.map((line) => line.replace(/\[\d+m/g, '')).filter((line) => line !== '');
  return body.flatMap((line) => [
    [...line].map((half) => ('█▀'.includes(half) ? '#' : '.')).join(''),
    [...line].map((half) => ('█▄'.includes(half) ? '#' : '.')).join(''),
  ]);
}

describe('the code that links an account', () => {
  it('[U01] is drawn module by module as it was made', async () => {
    const { modules } = qrcode.create(CODE, { errorCorrectionLevel: 'L' });
    const rows = modulesOf(await drawCode(CODE));
    const expected = Array.from({ length: modules.size }, (_, row) =>
      Array.from({ length: modules.size }, (_, column) =>
        modules.get(row, column) ? '#' : '.',
      ).join(''),
    );
    const drawn = rows.join('\n');
    for (const row of expected) expect(drawn).toContain(row);
  });

  it('[U01] is drawn below the banner, again when it changes, and never in a log', async () => {
    const { screen, written, until } = screenOf(true);
    screen.note(status({ kind: 'pairing', code: 'first' }));
    expect(written).toEqual([]);
    await screen.open();
    expect(written).toEqual([expect.stringContaining(await drawCode('first'))]);
    screen.note(status({ kind: 'pairing', code: 'second' }));
    await until(2);
    expect(written[1]).toContain(await drawCode('second'));
    screen.note(status({ kind: 'connected', as: 'Ann' }));
    expect(written[2]).toContain('connected as Ann');

    const log = screenOf(false);
    log.screen.note(status({ kind: 'pairing', code: 'first' }));
    await log.screen.open();
    log.screen.note(status({ kind: 'connected', as: 'Ann' }));
    expect(log.written).toEqual([]);
  });

  it('is drawn a few times only when nobody comes', async () => {
    const { screen, written, until } = screenOf(true);
    await screen.open();
    for (let nth = 1; nth <= 7; nth += 1) {
      screen.note(status({ kind: 'pairing', code: `code ${nth}` }));
      await until(nth);
    }
    screen.note(status({ kind: 'pairing', code: 'one more' }));
    expect(written).toHaveLength(7);
    expect(written[6]).toContain('parley status');
  });
});

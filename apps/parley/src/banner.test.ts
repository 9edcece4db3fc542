import type { AccountStatus } from '@parley/gateway';
import qrcode from 'qrcode';
import { describe, expect, it } from 'vitest';
import {
  createPairingScreen,
  formatBanner,
  formatChannelLine,
  formatLinkingInstructions,
  waitForFirstStates,
} from './banner.ts';
import { locateDataFolder } from './data-folder.ts';

const web: AccountStatus = {
  channel: 'web',
  account: 'default',
  state: { kind: 'connected', as: 'the web page' },
};
const telegram: AccountStatus = {
  channel: 'telegram',
  account: 'work',
  state: { kind: 'connected', as: '@polly' },
};
const running = {
  role: 'all' as const,
  agent: { name: 'Polly', emoji: '🦜' },
  model: 'offline – no model is configured',
  channels: [web],
  address: 'http://127.0.0.1:7411',
  token: 'secret',
  folder: locateDataFolder('/srv/parley', {}),
};

describe('the startup banner', () => {
  it('[U01] shows agent, model, channels, address, folder and the next steps', () => {
    expect(formatBanner(running, true)).toBe(`
Parley is running. 🦜 Polly is listening.

  Model     offline – no model is configured
  Data      /srv/parley
  Settings  /srv/parley/parley.yaml

Channels
  web: connected as the web page

Chat now   http://127.0.0.1:7411/#token=secret
or type    npm run parley -- chat --data /srv/parley   (in another terminal)
Next       connect a model and a channel: "Set up" on the page, or npm run parley -- setup --data /srv/parley

Stop with Ctrl-C.
`);
  });

  it('[U01] omits advice if a model and a channel are configured', () => {
    const done = { ...running, model: 'openai/gpt, as configured', channels: [web, telegram] };
    const text = formatBanner(done, true);
    expect(text).not.toContain('Next');
    expect(text).toContain('  telegram/work: connected as @polly');
  });

  it('[U03] keeps the token out of files and journals, and tells how to get it', () => {
    const text = formatBanner(running, false);
    expect(text).not.toContain('secret');
    expect(text).toContain('Chat now   http://127.0.0.1:7411\n');
    expect(text).toContain('npm run parley -- token show --data /srv/parley');
  });

  it('[U01] omits the emoji when the agent has none', () => {
    const plain = { ...running, agent: { name: 'Polly', emoji: undefined } };
    expect(formatBanner(plain, true)).toContain('Parley is running. Polly is listening.');
  });
});

describe('the status line of a channel', () => {
  it.each([
    [{ kind: 'starting' }, 'connecting'],
    [
      { kind: 'pairing', code: '2@abc', how: 'scan' },
      'waiting to be linked: scan its code, here or on the web page, with the phone',
    ],
    [
      { kind: 'pairing', code: 'ABCD-EFGH', how: 'type' },
      'waiting to be linked: type its code, here or on the web page, on the phone',
    ],
    [{ kind: 'connected', as: '@polly' }, 'connected as @polly'],
    [
      { kind: 'standby', holder: 'the gateway on one (7)' },
      'standby: the gateway on one (7) is connected',
    ],
    [
      { kind: 'retrying', reason: 'no network', nextAttemptAt: 1 },
      'not connected, retrying: no network',
    ],
    [
      { kind: 'failed', reason: 'Telegram refused the token.', fix: 'Ask @BotFather.' },
      'not working: Telegram refused the token. Ask @BotFather.',
    ],
    [
      { kind: 'failed', reason: 'the token is refused', fix: 'Ask @BotFather.' },
      'not working: the token is refused. Ask @BotFather.',
    ],
    [{ kind: 'stopped' }, 'stopped'],
  ] as const)('is a single line: %o', (state, line) => {
    expect(formatChannelLine({ channel: 'telegram', account: 'default', state })).toBe(line);
  });
});

const CODE = `https://wa.me/settings/linked_devices#2@${'Ab3/'.repeat(50)},key,key,key,1`;

function status(state: AccountStatus['state']): AccountStatus {
  return { channel: 'whatsapp', account: 'default', state };
}

const drawing = (code: string) =>
  formatLinkingInstructions('whatsapp', { kind: 'pairing', code, how: 'scan' });

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

/**
 * The dark modules of a drawn QR code, one array per row. Each line of text shows two rows of
 * modules as half blocks.
 */
function modulesOf(drawing: string): string[] {
  const lines = drawing.split('\n').map((line) => line.split('\u001b').join(''));
  const body = lines.map((line) => line.replace(/\[\d+m/g, '')).filter((line) => line !== '');
  return body.flatMap((line) => [
    [...line].map((half) => ('█▀'.includes(half) ? '#' : '.')).join(''),
    [...line].map((half) => ('█▄'.includes(half) ? '#' : '.')).join(''),
  ]);
}

describe('the code for linking an account', () => {
  it('[U01] draws the QR code exactly, module by module', async () => {
    const { modules } = qrcode.create(CODE, { errorCorrectionLevel: 'L' });
    const rows = modulesOf(await drawing(CODE));
    const expected = Array.from({ length: modules.size }, (_, row) =>
      Array.from({ length: modules.size }, (_, column) =>
        modules.get(row, column) ? '#' : '.',
      ).join(''),
    );
    const drawn = rows.join('\n');
    for (const row of expected) expect(drawn).toContain(row);
  });

  it('[U01] draws the code below the banner and again when it changes, but never writes it to a log', async () => {
    const { screen, written, until } = screenOf(true);
    screen.note(status({ kind: 'pairing', code: 'first', how: 'scan' }));
    expect(written).toEqual([]);
    await screen.open();
    expect(written).toEqual([expect.stringContaining(await drawing('first'))]);
    screen.note(status({ kind: 'pairing', code: 'second', how: 'scan' }));
    await until(2);
    expect(written[1]).toContain(await drawing('second'));
    screen.note(status({ kind: 'connected', as: 'Ann' }));
    expect(written[2]).toContain('connected as Ann');

    const log = screenOf(false);
    log.screen.note(status({ kind: 'pairing', code: 'first', how: 'scan' }));
    await log.screen.open();
    log.screen.note(status({ kind: 'connected', as: 'Ann' }));
    expect(log.written).toEqual([]);
  });

  it('[U02] shows a code that has to be typed as letters, and names the phone menu where it is typed', async () => {
    const { screen, written } = screenOf(true);
    screen.note(status({ kind: 'pairing', code: 'ABCD-EFGH', how: 'type' }));
    await screen.open();
    expect(written.join('')).toContain('\nABCD-EFGH\nType this on the phone');
    expect(written.join('')).toContain('Link with phone number instead.');
  });

  it('stops drawing codes after a few if no one scans them', async () => {
    const { screen, written, until } = screenOf(true);
    await screen.open();
    for (let nth = 1; nth <= 7; nth += 1) {
      screen.note(status({ kind: 'pairing', code: `code ${nth}`, how: 'scan' }));
      await until(nth);
    }
    screen.note(status({ kind: 'pairing', code: 'one more', how: 'scan' }));
    expect(written).toHaveLength(7);
    expect(written[6]).toContain('parley status');
  });
});

const at = (state: AccountStatus['state']): AccountStatus[] => [
  { channel: 'telegram', account: 'default', state },
];
const starting = at({ kind: 'starting' });
const connected = at({ kind: 'connected', as: '@polly' });

describe('the channel states at startup', () => {
  it('[U01] reports the channel states as soon as all channels have finished connecting', async () => {
    let looks = 0;
    const status = () => {
      looks += 1;
      return looks < 3 ? starting : connected;
    };
    expect(await waitForFirstStates({ status })).toEqual(connected);
  });

  it('[U01] returns the states known so far if a channel takes too long to connect', async () => {
    expect(await waitForFirstStates({ status: () => starting })).toEqual(starting);
  });
});

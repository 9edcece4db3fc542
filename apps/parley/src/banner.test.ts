import type { AccountStatus } from '@parley/gateway';
import { describe, expect, it } from 'vitest';
import { banner, bannerFacts, channelLine } from './banner.ts';
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

describe('the start banner', () => {
  it('[U01] tells agent, model, channels, address, folder and what to do next', () => {
    expect(banner(bannerFacts(running), true)).toBe(`
Parley is running. 🦜 Polly is listening.

  Model     offline – no model is configured
  Data      /srv/parley
  Settings  /srv/parley/parley.yaml

Channels
  web: connected as the web page

Chat now   http://127.0.0.1:7411/#token=secret
or type    npm run parley -- chat --data /srv/parley   (in another terminal)
Next       connect a model: uncomment "model" in /srv/parley/parley.yaml, or start a local server such as Ollama
           connect Telegram: put a bot token under "channels" in /srv/parley/parley.yaml

Stop with Ctrl-C.
`);
  });

  it('[U01] has no advice for whoever has a model and a channel', () => {
    const done = { ...running, model: 'openai/gpt, as configured', channels: [web, telegram] };
    const text = banner(bannerFacts(done), true);
    expect(text).not.toContain('Next');
    expect(text).toContain('  telegram/work: connected as @polly');
  });

  it('[U03] keeps the token out of files and journals, and says how to get it', () => {
    const text = banner(bannerFacts(running), false);
    expect(text).not.toContain('secret');
    expect(text).toContain('Chat now   http://127.0.0.1:7411\n');
    expect(text).toContain('npm run parley -- token show --data /srv/parley');
  });

  it('[U01] greets without a picture where there is none', () => {
    const plain = { ...running, agent: { name: 'Polly', emoji: undefined } };
    expect(banner(bannerFacts(plain), true)).toContain('Parley is running. Polly is listening.');
  });
});

describe('how a channel is doing', () => {
  it.each([
    [{ kind: 'starting' }, 'connecting'],
    [
      { kind: 'pairing', code: '2@abc' },
      'waits to be linked: scan its code, here or on the web page, with the phone',
    ],
    [{ kind: 'connected', as: '@polly' }, 'connected as @polly'],
    [
      { kind: 'standby', holder: 'the gateway on one (7)' },
      'stands by: the gateway on one (7) is connected',
    ],
    [
      { kind: 'retrying', reason: 'no network', nextAttemptAt: 1 },
      'not connected, tries again: no network',
    ],
    [
      { kind: 'failed', reason: 'Telegram refused the token.', mend: 'Ask @BotFather.' },
      'not working: Telegram refused the token. Ask @BotFather.',
    ],
    [
      { kind: 'failed', reason: 'the token is refused', mend: 'Ask @BotFather.' },
      'not working: the token is refused. Ask @BotFather.',
    ],
    [{ kind: 'stopped' }, 'stopped'],
  ] as const)('is one line: %o', (state, line) => {
    expect(channelLine({ channel: 'telegram', account: 'default', state })).toBe(line);
  });
});

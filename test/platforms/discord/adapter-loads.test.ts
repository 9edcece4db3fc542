import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const run = promisify(execFile);
const script = (source: string, ...rest: string[]) =>
  run(process.execPath, ['--input-type=module', '-e', source, ...rest], {
    cwd: import.meta.dirname,
    timeout: 30_000,
  });

const LOADS = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
const { CHANNEL_DEFINITIONS } = await import('@parley/gateway');
const early = loaded.length;
await CHANNEL_DEFINITIONS.find(({ id }) => id === 'discord').load();
console.log(JSON.stringify([loaded.slice(0, early), loaded.slice(early)]));
`;

const STARTS_AND_STOPS = `
const [token, apiRoot, chatId] = process.argv.slice(1);
const { discord } = await import('@parley/channel-discord');
const { silentLogger } = await import('@parley/core');
const { createInMemoryAdapterValues } = await import('@parley/core/testing');
const connect = await discord.load();
const { promise: connected, resolve } = Promise.withResolvers();
const adapter = connect({
  account: 'default', settings: { token, apiRoot }, log: silentLogger, clock: Date.now, monotonic: () => performance.now(),
  values: createInMemoryAdapterValues(), holdsAccount: () => true, commands: [], history: async () => [], revise: async () => {},
  ignored: async () => {},
  receive: async () => ({ kind: 'accepted', conversationId: 'c' }),
  report: (state) => { if (state.kind === 'connected') resolve(); },
});
await adapter.start();
await connected;
const target = { dialect: 'discord', maxLength: 2000, unit: 'utf16' };
const route = { channel: 'discord', account: 'default', chatId, target };
const part = { id: 'p', idempotencyKey: 'k', turnId: null, index: null, route, body: { text: 'hi', plain: 'hi' } };
await adapter.send(part, new AbortController().signal);
console.log('sent');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
await adapter.stop();
console.log('stopped');
`;

describe('discord.js', () => {
  it('[F03] is loaded with the first Discord account and not before', async () => {
    const { stdout } = await script(LOADS);
    const [early, late]: [string[], string[]] = JSON.parse(stdout);
    const ofDiscord = (url: string) => /node_modules\/(discord\.js|@discordjs|undici)\//.test(url);
    expect(early.filter(ofDiscord)).toEqual([]);
    expect(late.filter(ofDiscord).length).toBeGreaterThan(0);
  });

  it.each([
    ['', undefined],
    [', even if nobody answers any more', { kind: 'freeze' } as const],
  ])(
    '[D11] leaves nothing open after a stop%s, so that the process exits by itself',
    async (_, fault) => {
      const { double } = await startDiscordScene();
      const child = spawn(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          STARTS_AND_STOPS,
          double.token,
          double.apiRoot,
          double.channelId,
        ],
        { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'] },
      );
      const ended = once(child, 'exit');
      // discord.js would wait half a minute for an answer.
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      const spoke = once(child.stdout, 'data').then(() => true);
      expect(await Promise.race([spoke, ended.then(() => false)])).toBe(true);
      if (fault !== undefined) double.fault(fault);
      child.stdin.write('stop\n');
      expect(await ended).toEqual([0, null]);
      clearTimeout(timer);
      expect(double.conversation(double.channelId)).toMatchObject([{ visible: 'hi' }]);
    },
  );
});

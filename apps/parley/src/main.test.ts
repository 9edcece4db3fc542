import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announceGateway, locateDataFolder } from './data-folder.ts';
import { main } from './main.ts';
import { type CapturedOutput, captureOutput } from './testing/captured-output.ts';

let folder: string;
let written: CapturedOutput;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-main-'));
  written = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe('the command line', () => {
  it('prints help that describes the commands', async () => {
    expect(await main(['--help'])).toBe(0);
    for (const word of [
      'start',
      'chat',
      'status',
      'pair',
      'config',
      '--data',
      '--config',
      'PARLEY_HOME',
    ]) {
      expect(written.out).toContain(word);
    }
  });

  it.each([
    [['strat'], "unknown command 'strat'"],
    [['start', '--prot', '80'], "unknown option '--prot'"],
    [['--data'], 'argument missing'],
    [['start', 'now'], 'too many arguments'],
    [['docter'], "unknown command 'docter'\n(Did you mean doctor?)"],
    [['config', 'chekc'], "unknown command 'config chekc'\n(Did you mean config check?)"],
    [['memory', 'xyzzy'], '(Available commands: list, search, rebuild, versions, diff, restore.)'],
    [['dead', 'shwo'], "unknown command 'dead shwo'\n(Did you mean dead show?)"],
    [['soul', 'xyzzy'], "unknown command 'soul xyzzy'"],
  ])('exits with code 2 on incorrect usage and names the mistake: %j', async (args, words) => {
    expect(await main(args)).toBe(2);
    expect(written.err).toContain(words);
    expect(written.err).toContain('--help');
  });

  const TWO = JSON.stringify({
    ...{ model: 'offline', agent: { name: 'Ada' }, agents: { desk: { name: 'Help desk' } } },
    channels: { telegram: { token: `123456:${'A'.repeat(35)}` } },
    routes: [
      { agent: 'desk', chat: 'telegram:-100' },
      { agent: 'desk', person: 'telegram:9' },
    ],
  });
  it.each<readonly [args: string, code: number, said: string]>([
    ['agents', 0, 'answers    chat telegram:-100; person telegram:9'],
    ['agents telegram:-100', 0, 'answered by desk (the rule for this chat)'],
    ['agents telegram:5 --person 9', 0, 'answered by desk (the rule for this person)'],
    ['agents telegram:5', 0, 'answered by main (the default agent)'],
    ['agents web:@desk/main', 0, 'answered by desk (the chat names this agent)'],
    ['agents discord:5', 1, 'a working account discord/default'],
    ['memory search tea --agent desk', 0, 'Green tea, always.'],
    ['memory --agent desk search tea', 0, 'Green tea, always.'],
    ['memory search tea', 1, 'Nothing was found.'],
    ['heartbeat --agent desk', 0, 'next     not yet'],
    ['heartbeat', 0, 'There are no tasks in HEARTBEAT.md.'],
    ['soul list --agent desk', 0, 'v0-seed'],
    ['prompt --channel web --agent desk --full', 0, 'Help desk'],
    ['hooks list --agent desk', 0, 'No hooks are configured.'],
    ['cron add tea --every 2h --agent desk', 1, 'Not done: no owner has written'],
    ['memory list --agent dsek', 1, 'Did you mean desk? The agents are main, desk.'],
    ['import openclaw docs --agent desk', 1, 'There is no OpenClaw workspace in'],
  ])('[F14] runs commands for the agent named with --agent: %s', async (args, code, said) => {
    writeFileSync(join(folder, 'parley.yaml'), TWO);
    const workspace = join(folder, 'workspaces/desk');
    mkdirSync(join(workspace, 'memory'), { recursive: true });
    writeFileSync(join(workspace, 'memory/2026-11-26.md'), 'Green tea, always.\n');
    writeFileSync(join(workspace, 'HEARTBEAT.md'), '- water the plants\n');
    expect(await main(['--data', folder, ...args.split(' ')])).toBe(code);
    expect(written.out + written.err).toContain(said);
  });

  it('[U03] explains a refused operation in one sentence', async () => {
    expect(await main(['--data', folder, 'cron', 'pause', 'NONE', '--json'])).toBe(1);
    expect(written.out).toContain('There is no job "NONE".');
  });

  it('[U02] suggests only commands that exist', async () => {
    const words = [
      'stert',
      'statsu',
      'cofnig',
      'hlep',
      'dead drpo',
      'cron hlep',
      'skils',
      'vresion',
    ];
    for (const word of words) {
      written.err = '';
      expect(await main(word.split(' '))).toBe(2);
      const [, meant] = /Did you mean (.+)\?/.exec(written.err) ?? [];
      if (meant !== undefined) expect(await main([...meant.split(' '), '--help'])).toBe(0);
    }
  });

  it.each([[['--version']], [['start', '--version']]])(
    '[U02] prints the versions: %j',
    async (args) => {
      expect(await main(args)).toBe(0);
      expect(written.out).toMatch(/^parley \d+\.\d+\.\d+.*\nnode \d+\.\d+\.\d+\n$/);
    },
  );

  it('[D12] reads the settings file that a running gateway was started with', async () => {
    const other = join(folder, 'other.yaml');
    writeFileSync(other, 'http:\n  port: 99999\n');
    const place = { ...locateDataFolder(folder, {}), settingsFile: other };
    const end = announceGateway(place, 'http://127.0.0.1:1');
    expect(await main(['--data', folder, 'config', 'check'])).toBe(1);
    expect(written.out).toContain(`${other}: 1 problem`);
    end();
    expect(await main(['--data', folder, 'config', 'check'])).toBe(0);
  });

  it('accepts --data before and after the command', async () => {
    expect(await main(['--data', folder, 'status'])).toBe(3);
    expect(await main(['status', '--data', folder])).toBe(3);
    expect(await main(['sessions', 'new', '--data', folder])).toBe(3);
    expect(written.out.match(new RegExp(`No gateway is running on ${folder}`, 'g'))).toHaveLength(
      3,
    );
  });

  it('[F05] allows strangers by their pairing code without a running gateway', async () => {
    const url = `sqlite:${join(folder, 'parley.db')}`;
    const store = await openStore({ url, clock: Date.now });
    const target = { dialect: 'plain', maxLength: 100, unit: 'utf16' } as const;
    const who = { channel: 'telegram', account: 'default', senderId: '9', senderName: 'Eve' };
    const route = { channel: 'telegram', account: 'default', chatId: '9', target };
    await store.pairing.request({ ...who, route }, 'ABCD2345', [], Date.now());
    expect(await main(['--data', folder, 'pair'])).toBe(0);
    expect(written.out).toContain('Eve (telegram:9): /pair ABCD2345');
    expect(await main(['--data', folder, 'pair', 'wrong'])).toBe(1);
    expect(await main(['--data', folder, 'pair', 'abcd2345'])).toBe(0);
    expect(written.out).toContain('Eve (telegram:9) has access now.');
    expect(await store.pairing.isAllowed('telegram', 'default', '9')).toBe(true);
    await store.close();
  });

  it('[D12] checks settings without starting a gateway', async () => {
    writeFileSync(join(folder, 'parley.yaml'), 'http:\n  port: 99999\n');
    expect(await main(['--data', folder, 'config', 'check'])).toBe(1);
    expect(written.out).toContain('http.port');
    expect(written.out).toContain('1 problem; Parley will not start.');
  });

  it('[D12] accepts missing settings, since every setting has a default', async () => {
    expect(await main(['--data', folder, 'config', 'check'])).toBe(0);
    expect(written.out).toContain('does not exist; the defaults apply');
  });

  it('[D12] warns about an unknown key but accepts the settings file', async () => {
    writeFileSync(join(folder, 'parley.yaml'), 'agnet:\n  name: x\n');
    expect(await main(['--data', folder, 'config', 'check'])).toBe(0);
    expect(written.out).toMatch(/warning: .*agnet/s);
    expect(written.out).toContain('is fine');
  });

  it('reports an error in one sentence, without a stack trace', async () => {
    expect(await main(['--config', join(folder, 'none.yaml'), 'status'])).toBe(1);
    expect(written.err).toContain(`There is no settings file ${folder}/none.yaml`);
    expect(written.err).not.toContain('    at ');
  });

  it('reports an unexpected response from the process at the gateway’s address', async () => {
    const instance = { pid: process.pid, address: 'http://127.0.0.1:1' };
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify(instance));
    writeFileSync(join(folder, 'token'), 'x'.repeat(32));
    expect(await main(['--data', folder, 'status'])).toBe(1);
    expect(written.err).toContain(`Process ${process.pid} should be a Parley`);
  });
});

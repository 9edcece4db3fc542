import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry/scrubber';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { findPlainTextSecrets } from '@parley/settings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from './data-folder.ts';
import { readSettings } from './settings.ts';
import { Setup } from './setup-steps.ts';

const TOKEN = '123456:abcdefghijklmnopqrstuvwxyzabcdefghi';
const OTHER_TOKEN = '654321:abcdefghijklmnopqrstuvwxyzabcdefghi';
const DISCORD_TOKEN = 'MTExMTExMTExMTExMTExMTEx.GabcDE.abcdefghijklmnopqrstuvwxyzabcdefghijklmn';
const KEY = 'k3y-of-the-model';
const LOCAL = { provider: 'openai-compatible' } as const;
const MODEL = { provider: 'openai', model: 'gpt', apiKey: KEY } as const;

describe('the steps of the setup', () => {
  let path: string;
  let settled: string[];
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'parley-setup-'));
    settled = [];
  });
  afterEach(() => rmSync(path, { recursive: true }));

  const written = () => readFileSync(join(path, 'parley.yaml'), 'utf8');
  const secret = (name: string) => readFileSync(join(path, 'secrets', name), 'utf8');
  const waiting = [
    {
      ...{ channel: 'telegram', account: 'default', senderId: '42', senderName: 'Ann' },
      ...{ code: 'CODE', expiresAt: 1 },
      route: {
        ...{ channel: 'telegram', account: 'default', chatId: '42' },
        target: { dialect: 'plain', maxLength: 1_000, unit: 'utf16' },
      } as const,
    },
  ];

  /** `file` is an optional settings file outside the data folder. */
  function steps(file?: string): Setup {
    const located = locateDataFolder(path, {});
    const folder = file === undefined ? located : { ...located, settingsFile: file };
    return new Setup({
      ...{ folder, env: {}, ...systemTime, secrets: openSecrets([]) },
      definitions: CHANNEL_DEFINITIONS,
      loaded: readSettings(folder, {}),
      model: { line: () => 'offline' },
      store: {
        pairing: {
          pending: async () => waiting,
          settle: async (channel, senderId) => void settled.push(`${channel}:${senderId}`),
        },
      },
    });
  }

  it.each([
    ['a model', 'model-key-openai', KEY, (setup: Setup) => setup.saveModel(MODEL)],
    [
      ...(['Telegram', 'telegram-token', TOKEN] as const),
      (setup: Setup) => setup.saveChannel({ channel: 'telegram', token: TOKEN }),
    ],
    [
      ...(['Discord', 'discord-token', DISCORD_TOKEN] as const),
      (setup: Setup) => setup.saveChannel({ channel: 'discord', token: DISCORD_TOKEN }),
    ],
  ])(
    '[U02] store the secret of %s in a file that only its owner can read',
    async (_name, file, text, save) => {
      writeFileSync(join(path, 'parley.yaml'), '# mine\n', { mode: 0o600 });
      expect(await save(steps())).toMatchObject({ kind: 'done' });
      expect(written()).toContain(`\${file:secrets/${file}}`);
      expect(written()).not.toContain(text);
      expect(findPlainTextSecrets(join(path, 'parley.yaml'))).toEqual([]);
      expect(secret(file)).toBe(`${text}\n`);
      expect(statSync(join(path, 'secrets', file)).mode & 0o777).toBe(0o600);
      expect(statSync(join(path, 'secrets')).mode & 0o777).toBe(0o700);
      expect(readSettings(locateDataFolder(path, {}), {}).secrets).toContain(text);
    },
  );

  it('[U02] replace the stored secret with a new one', async () => {
    await steps().saveChannel({ channel: 'telegram', token: TOKEN });
    const before = written();
    const answer = await steps().saveChannel({ channel: 'telegram', token: OTHER_TOKEN });
    expect(answer).toMatchObject({ kind: 'done' });
    expect(written()).toBe(before);
    expect(secret('telegram-token')).toBe(`${OTHER_TOKEN}\n`);
    expect(readdirSync(join(path, 'secrets'))).toEqual(['telegram-token']);
  });

  it('[U02] keep a separate key for each model server, even if two share a dialect or host', async () => {
    const keyOf = async (baseUrl: string, apiKey: string): Promise<string> => {
      const model = { ...LOCAL, baseUrl, model: 'm', apiKey };
      expect(await steps().saveModel(model)).toMatchObject({ kind: 'done' });
      return /\$\{file:secrets\/([^}]+)\}/.exec(written())?.[1] ?? '';
    };
    const servers = [
      ['http://127.0.0.1:8080/v1', /^model-key-127\.0\.0\.1-8080-[0-9a-f]{8}$/],
      ['http://127.0.0.1:8081/v1', /^model-key-127\.0\.0\.1-8081-[0-9a-f]{8}$/],
      ['https://example.com/v1', /^model-key-example\.com-[0-9a-f]{8}$/],
      ['https://example.com/other/v1', /^model-key-example\.com-[0-9a-f]{8}$/],
      ['http://[::1]:9/v1', /^model-key--1-9-[0-9a-f]{8}$/],
      [`https://${'long.'.repeat(40)}com/v1`, /^model-key-(?:long\.){16}-[0-9a-f]{8}$/],
    ] as const;
    const names: string[] = [];
    for (const [nth, [address, name]] of servers.entries()) {
      names.push(await keyOf(address, `key-${nth}`));
      expect(names.at(-1)).toMatch(name);
    }
    expect(names.map(secret)).toEqual(servers.map((_, nth) => `key-${nth}\n`));
    const again = await keyOf(`${servers[0][0]}/`, 'a new key');
    expect([again, secret(again)]).toEqual([names[0], 'a new key\n']);
    expect(secret(names[1] ?? '')).toBe('key-1\n');
  });

  it('[U02] leave no secret behind if the settings are refused', async () => {
    const wrong = { channel: 'telegram', token: 'no token' } as const;
    expect(await steps().saveChannel(wrong)).toMatchObject({ kind: 'problem' });
    expect(readdirSync(join(path, 'secrets'))).toEqual([]);
    await steps().saveChannel({ channel: 'telegram', token: TOKEN });
    expect(await steps().saveChannel(wrong)).toMatchObject({ kind: 'problem' });
    expect(secret('telegram-token')).toBe(`${TOKEN}\n`);
  });

  it('[U02] use an absolute path if the settings file is outside the data folder', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'parley-settings-'));
    const file = join(elsewhere, 'mine.yaml');
    try {
      writeFileSync(file, 'model: offline\n');
      await steps(file).saveModel(MODEL);
      expect(readFileSync(file, 'utf8')).toContain(
        `\${file:${join(path, 'secrets/model-key-openai')}}`,
      );
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('[U02] name only the provider if it does not answer and no model was chosen', async () => {
    const answer = await steps().tryModel({ ...LOCAL, baseUrl: 'http://127.0.0.1:9/v1' });
    expect(answer).toMatchObject({
      kind: 'problem',
      reason: expect.stringMatching(/^openai-compatible cannot be reached at 127\.0\.0\.1:9\./),
    });
  });

  it.each([
    ['Address', (setup: Setup) => setup.tryModel({ ...LOCAL, baseUrl: 'my server' })],
    ['Address', (setup: Setup) => setup.saveModel({ ...LOCAL, baseUrl: 'my server' })],
    ['Address', (setup: Setup) => setup.tryModel({ ...LOCAL, model: 'm' })],
    ['Address', (setup: Setup) => setup.saveModel({ ...LOCAL, model: 'm' })],
    ['Model', (setup: Setup) => setup.saveModel({ ...LOCAL, baseUrl: 'http://127.0.0.1:9/v1' })],
    ['Token', (setup: Setup) => setup.tryChannel({ channel: 'telegram' })],
    ['Token', (setup: Setup) => setup.tryChannel({ channel: 'telegram', token: 'none' })],
    ['Token', (setup: Setup) => setup.saveChannel({ channel: 'telegram', token: 'none' })],
    ['Phone number', (setup: Setup) => setup.saveChannel({ channel: 'whatsapp', phone: 'mine' })],
  ])('[U02] describe a field by its label in the form: %s', async (name, step) => {
    const answer = await step(steps());
    expect(answer).toMatchObject({ kind: 'problem' });
    if (answer.kind !== 'problem') return;
    expect(answer.reason).toMatch(new RegExp(`^${name}: `));
    expect(answer.reason).not.toMatch(/baseUrl|apiKey|channels\.|line \d/);
  });

  it("[U02] remove the new owner's pending request for access", async () => {
    expect((await steps().state()).waiting).toMatchObject([{ person: 'telegram:42' }]);
    expect(await steps().addOwner('telegram:42')).toMatchObject({ kind: 'done' });
    expect(settled).toEqual(['telegram:42']);
    expect((await steps().state()).waiting).toEqual([]);
  });
});

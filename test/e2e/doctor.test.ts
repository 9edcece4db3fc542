import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { fetchChannelStates, waitUntilConnected } from './channel-states.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { mountSmallDisk } from './small-disk.ts';

const Status = z.enum(['ok', 'warning', 'failed', 'skipped']);
const Count = z.int().nonnegative();

/** The output of `doctor --json`. A warning or a failure says what to do. */
const Report = z.strictObject({
  version: z.literal(1),
  parley: z.string().regex(/^\d+\.\d+\.\d+/),
  node: z.string().regex(/^\d+\.\d+\.\d+/),
  at: z.iso.datetime(),
  dataFolder: z.string(),
  settingsFile: z.string(),
  counts: z.strictObject({ ok: Count, warning: Count, failed: Count, skipped: Count }),
  checks: z.array(
    z
      .strictObject({
        check: z.string(),
        status: Status,
        subject: z.string().optional(),
        found: z.string().min(1),
        fix: z.string().min(1).optional(),
        tookMs: z.number(),
      })
      .refine(({ status, fix }) => status === 'ok' || status === 'skipped' || fix !== undefined),
  ),
});

let telegram: TelegramDouble;
let discord: DiscordDouble;
let model: ModelDouble;
beforeAll(async () => {
  [telegram, discord, model] = await Promise.all([
    startTelegramDouble(),
    startDiscordDouble(),
    startModelDouble({ apiKey: 'sk-key-of-the-test' }),
  ]);
  // Loads the modules that the checks need, because on a busy machine this takes most of the 10 s
  // each check may take.
  const { path, remove } = makeDataFolder(works());
  await runCommand(['--data', path, 'doctor']);
  remove();
});
afterAll(() => Promise.all([telegram.close(), discord.close(), model.close()]));

/** Settings with which every check passes. */
const works = () => ({
  http: { port: 0 },
  model: {
    provider: 'openai-compatible',
    baseUrl: model.baseUrl,
    model: 'double',
    apiKey: 'sk-key-of-the-test',
  },
  channels: {
    telegram: { token: telegram.token, apiRoot: telegram.apiRoot },
    discord: { token: discord.token, apiRoot: discord.apiRoot },
  },
});

function folderWith(settings: object): DataFolder {
  const folder = makeDataFolder(settings);
  onTestFinished(() => folder.remove());
  return folder;
}

async function examine(data: string, ...flags: readonly string[]) {
  const { code, out, err } = await runCommand(['--data', data, 'doctor', '--json', ...flags]);
  expect(err).toBe('');
  const report = Report.parse(JSON.parse(out));
  const isFailed = report.checks.some(({ status }) => status === 'failed');
  expect(code).toBe(isFailed ? 1 : 0);
  for (const secret of [telegram.token, discord.token, 'sk-key-of-the-test'])
    expect(out).not.toContain(secret);
  const find = (check: string, subject?: string) =>
    report.checks.filter((one) => one.check === check && one.subject === subject);
  return { report, out, one: (check: string, subject?: string) => find(check, subject)[0] };
}

const text = (words: string) => expect.stringContaining(words);

describe('parley doctor without a running gateway', () => {
  it('[U02] contacts the model and each channel, and changes nothing', async () => {
    const { path } = folderWith(works());
    const { report, one } = await examine(path);
    expect(one('model', 'openai-compatible/double')).toMatchObject({
      status: 'ok',
      found: text('it offers 1 model'),
    });
    expect(one('channel', 'telegram')).toMatchObject({ found: text('@parley_test_bot') });
    expect(one('channel', 'discord')).toMatchObject({ found: text('@parley-test') });
    // The audit warns about tokens stored in the file.
    expect(report.counts).toMatchObject({ failed: 0, warning: 1 });
    expect(one('gateway')).toMatchObject({ status: 'skipped' });
    expect(readdirSync(path)).toEqual(['parley.yaml']);
  });

  it('[U02] prints aligned lines, each followed by advice', async () => {
    const { path } = folderWith({ ...works(), model: 'auto', chanels: {} });
    const { code, out } = await runCommand(['--data', path, 'doctor']);
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {7}version {3}Parley \d/);
    expect(out).toMatch(/^warning {2}settings {2}.*chanels.*\n {19}→ Correct /m);
    expect(out).toMatch(/\n\d+ ok, \d with a warning, 0 failed, \d skipped\.\n$/);
  });

  it.each([
    [
      'a wrong token of Telegram',
      () => ({ channels: { telegram: { token: '9:wrong', apiRoot: telegram.apiRoot } } }),
      ['channel', 'telegram', 'refuses the bot token', '@BotFather'],
    ],
    [
      'a wrong token of Discord',
      () => ({ channels: { discord: { token: 'a.b.c', apiRoot: discord.apiRoot } } }),
      ['channel', 'discord', 'refuses the bot token', 'Reset Token'],
    ],
    [
      'a platform that cannot be reached',
      () => ({ channels: { telegram: { token: '9:x', apiRoot: 'http://127.0.0.1:9' } } }),
      ['channel', 'telegram', 'cannot be reached', '127.0.0.1:9 must be reachable'],
    ],
    [
      'a wrong key of the model',
      () => ({ model: { ...works().model, apiKey: 'sk-not-the-key' } }),
      ['model', 'openai-compatible/double', 'refused the key', 'apiKey'],
    ],
    [
      'a model server that cannot be reached',
      () => ({ model: { ...works().model, baseUrl: 'http://127.0.0.1:9/v1' } }),
      ['model', 'openai-compatible/double', 'cannot be reached at 127.0.0.1:9', 'baseUrl'],
    ],
    [
      'Redis that cannot be reached',
      () => ({ queue: { url: 'redis://:secret-word@127.0.0.1:9' } }),
      ['queue', undefined, 'Redis at 127.0.0.1:9 cannot be used', 'queue.url'],
    ],
    [
      'PostgreSQL that cannot be reached',
      () => ({ store: { url: 'postgres://ann:secret-word@127.0.0.1:9/parley' } }),
      ['database', undefined, '127.0.0.1:9', ''],
    ],
  ] as const)('[U02] gives advice about %s', async (_what, settings, expected) => {
    const [check, subject, found, fix] = expected;
    const { path } = folderWith({ ...works(), ...settings() });
    const { one, out } = await examine(path);
    expect(one(check, subject)).toMatchObject({
      status: 'failed',
      found: text(found),
      fix: text(fix),
    });
    expect(out).not.toMatch(/sk-not-the-key|secret-word/);
  });

  it('[U02] runs the other checks when the settings are invalid', async () => {
    const { path } = folderWith({ ...works(), http: { port: 99_999 } });
    const { one } = await examine(path);
    expect(one('settings')).toMatchObject({ status: 'failed', found: text('http.port') });
    expect(one('disk')).toMatchObject({ status: 'ok' });
  });

  it('[D12] lists ids that can never match, and explains how to find the right ones', async () => {
    const { path } = folderWith({ ...works(), owners: ['telegram:@ann'] });
    const { one } = await examine(path);
    expect(one('settings')).toMatchObject({ status: 'failed', found: text('/whoami') });
  });

  it('[D12] lists each setting that has an older name, with its current name', async () => {
    const { path } = folderWith({ ...works(), heartbeat: { tell: 'last' } });
    const { one } = await examine(path);
    expect(one('settings')).toMatchObject({
      status: 'warning',
      found: text('heartbeat.tell → heartbeat.notify'),
      fix: text('config upgrade'),
    });
  });

  it('[S11] [F09] lists skills that are guessed, missing from the menu, or only in the settings', async () => {
    const { path } = folderWith({ ...works(), skills: { block: ['skil5'] } });
    for (let nth = 0; nth < 100; nth += 1) {
      mkdirSync(join(path, 'skills', `skill${nth}`), { recursive: true });
      const front = `name: skill${nth}\ndescription: Helps with ${nth === 7 ? 'this: that' : 'it'}.`;
      writeFileSync(
        join(path, 'skills', `skill${nth}`, 'SKILL.md'),
        `---\n${front}\n---\nDo it.\n`,
      );
    }
    const { report } = await examine(path);
    const found = report.checks.filter(({ check }) => check === 'skills');
    const lines = found.map((one) => `${one.status} ${one.found} ${one.fix}`).join('\n');
    expect(lines).toContain(
      'warning skill7 was interpreted with guesses: "description" is not plain YAML',
    );
    expect(lines).toMatch(/skills\.block names skil5, .* Did you mean skill5\?/);
    expect(lines).toMatch(/telegram's menu has no room for .*\/skill99/);
    expect(lines).toMatch(/discord's menu has no room for .*\/skill99/);
  });

  it('[U02] finds a damaged database', async () => {
    const { path } = folderWith(works());
    writeFileSync(join(path, 'parley.db'), 'no database '.repeat(1_000));
    const { one } = await examine(path);
    expect(one('database')).toMatchObject({ status: 'failed', fix: text('parley restore') });
  });

  it('[U02] counts missing attachment files', async () => {
    const { path } = folderWith(works());
    const store = await openStore({ url: `sqlite:${join(path, 'parley.db')}`, clock: Date.now });
    const chat = { id: 'c1', type: 'direct' } as const;
    const place = { channel: 'web', account: 'default' };
    await store.inbox.accept({
      conversationId: 'web:c1',
      route: {
        ...{ ...place, chatId: chat.id },
        target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
      },
      receivedAt: 0,
      files: [Uint8Array.of(1)],
      message: {
        ...{ ...place, messageId: 'm1', chat, text: '', sentAt: 0, variables: {} },
        sender: { id: 'u1', name: 'Ada', isBot: false },
        ...{ mentions: [], addressed: true, attachments: [{ kind: 'image', ref: 'p' }] },
      },
    });
    await store.close();
    const missing = text('1 file of messages is missing');
    const of = async () => (await examine(path)).report.checks.map(({ found }) => found);
    expect(await of()).not.toContainEqual(missing);
    rmSync(join(path, 'parley.db-files'), { recursive: true });
    expect(await of()).toContainEqual(missing);
  });

  it('[U02] names the port that another program uses, and whether that program is Parley', async () => {
    const other = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { path } = folderWith({ ...works(), http: { port } });
    expect((await examine(path)).one('port')).toMatchObject({
      status: 'failed',
      found: `port ${port} on 127.0.0.1 is taken by another program`,
      fix: text('http.port'),
    });
  });

  it('[U02] detects a wrong clock from the responses of servers', async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const slow = createServer((_request, response) => {
      response.writeHead(200, { date, 'content-type': 'application/json' });
      response.end('{"ok":true,"result":{"id":1,"username":"late_bot"}}');
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void slow.close());
    const { port } = slow.address() as AddressInfo;
    const apiRoot = `http://127.0.0.1:${port}`;
    const { path } = folderWith({ channels: { telegram: { token: '1:x', apiRoot } } });
    const { one } = await examine(path);
    expect(one('clock')).toMatchObject({ status: 'failed', fix: text('NTP') });
    expect(one('clock')?.found).toMatch(/^3(599|600) s ahead of 127\.0\.0\.1:/);
  });

  it('[U02] reports that the data folder is not writable', async () => {
    const place = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    writeFileSync(join(place, 'file'), '');
    const { one } = await examine(join(place, 'file', 'data'));
    expect(one('settings')).toMatchObject({ status: 'failed', found: text('cannot be read') });
    expect(one('disk')).toMatchObject({ status: 'failed', fix: text('write permission') });
  });

  it.runIf(inject('mountPath'))('[U02] reports that the disk is full', async () => {
    const disk = mountSmallDisk();
    onTestFinished(() => disk.remove());
    writeFileSync(join(disk.path, 'parley.yaml'), JSON.stringify(works()));
    disk.fill();
    const { one } = await examine(disk.path);
    expect(one('disk')).toMatchObject({ status: 'failed', fix: text('Free up space') });
    expect(readdirSync(disk.path).sort()).toEqual(['filler', 'parley.yaml']);
  });
});

describe('parley doctor beside a running gateway', () => {
  let folder: DataFolder;
  let parley: TestParley;
  beforeAll(async () => {
    folder = makeDataFolder({});
    const settings = join(folder.path, 'other.yaml');
    writeFileSync(settings, JSON.stringify(works()));
    rmSync(join(folder.path, 'parley.yaml'));
    parley = await startParleyInProcess(folder.path, { settingsFile: settings });
    await waitUntilConnected(parley);
  });
  afterAll(async () => {
    await parley.end();
    folder.remove();
  });

  it('[U02] queries the gateway, with the settings it was started with, and does not change it', async () => {
    const { report, one } = await examine(folder.path);
    expect(report.settingsFile).toBe(join(folder.path, 'other.yaml'));
    expect(one('gateway')).toMatchObject({ status: 'ok', found: text(`process ${process.pid}`) });
    expect(one('channel', 'telegram')).toMatchObject({ found: 'connected as @parley_test_bot' });
    expect(one('channel', 'discord')).toMatchObject({ found: 'connected as @parley-test' });
    expect(one('database')).toMatchObject({ found: text('the running gateway reads and writes') });
    expect(one('port')).toMatchObject({ status: 'ok', found: text(parley.address) });
    expect(one('audit')?.status).not.toBe('skipped');
    expect(report.checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect((await fetchChannelStates(parley)).every(({ kind }) => kind === 'connected')).toBe(true);
    expect(discord.gateway()).toMatchObject({ identifies: 1, resumes: 0 });
  });

  it("[U02] reports that the gateway holds another installation's port", async () => {
    const port = Number(new URL(parley.address).port);
    const { path } = folderWith({ ...works(), http: { port } });
    expect((await examine(path)).one('port')).toMatchObject({ found: text('another Parley') });
  });

  it('[U02] reports which settings in the file are not in use yet', async () => {
    const file = join(folder.path, 'other.yaml');
    writeFileSync(file, JSON.stringify({ ...works(), http: { port: 0, host: '127.0.0.2' } }));
    const found = async () => (await examine(folder.path)).one('settings')?.found;
    await expect
      .poll(found, { timeout: 30_000 })
      .toContain('http.host will take effect at the next start');
    writeFileSync(file, JSON.stringify(works()));
    await expect.poll(found, { timeout: 30_000 }).toContain('is fine');
  });

  it("[D12] config check validates the gateway's settings file, unless another file is named", async () => {
    const check = (...flags: readonly string[]) =>
      runCommand(['--data', folder.path, 'config', 'check', ...flags]);
    expect((await check()).out).toContain(`${join(folder.path, 'other.yaml')} is fine.`);
    const broken = join(folder.path, 'broken.yaml');
    writeFileSync(broken, 'http: { port: 99999 }');
    expect(await check('--config', broken)).toMatchObject({ code: 1, out: text('http.port') });
  });

  it('[U02] reads the database directly once the gateway has stopped', async () => {
    await parley.end();
    const file = join(folder.path, 'linked.yaml');
    writeFileSync(file, JSON.stringify({ ...works(), channels: { whatsapp: {} } }));
    const { one } = await examine(folder.path, '--config', file);
    expect(one('gateway')).toMatchObject({ status: 'skipped' });
    expect(one('database')).toMatchObject({ status: 'ok', found: text('can be read and written') });
    expect(one('channel', 'whatsapp')).toMatchObject({ status: 'warning', fix: text('scan') });
  });
});

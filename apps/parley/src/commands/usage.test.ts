import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { main } from '../main.ts';
import { type CapturedOutput, captureOutput } from '../testing/captured-output.ts';

let folder: DataFolder;
let written: CapturedOutput;
beforeEach(() => {
  written = captureOutput();
  folder = locateDataFolder(mkdtempSync(join(tmpdir(), 'parley-usage-')), {});
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder.path, { recursive: true, force: true });
});

const AT = Date.parse('2026-11-21T12:00:00Z');
const RANGE = ['--days', '3', '--until', '2026-11-21'];
const route = {
  ...{ channel: 'telegram', account: 'default', chatId: '42' },
  target: { dialect: 'plain', maxLength: 4_096, unit: 'utf16' },
} as const;

/** Records one answer to the named person, with the given cost, or with an unknown cost. */
async function answered(name: string, costUsd: number | null): Promise<void> {
  const store = await openStore({ url: folder.storeUrl, clock: () => AT });
  const conversationId = 'telegram:default:42';
  const message = {
    ...{ channel: 'telegram', account: 'default', messageId: name, addressed: true },
    chat: { id: '42', type: 'direct' },
    sender: { id: name.length.toString(), name, isBot: false },
    ...{ text: 'hi', mentions: [], sentAt: 0, variables: {} },
  } as const;
  await store.inbox.accept({ conversationId, message, route, receivedAt: AT });
  const work = { conversationId, owner: 'w', leaseMs: 1_000 };
  const held = await store.lanes.begin(work, 'collect', `t-${name}`, AT);
  if (held.kind !== 'turn') throw new Error(`no turn: ${held.kind}`);
  const counted = { inputTokens: 1_000, cachedInputTokens: 600, outputTokens: 20 };
  const usage = { model: 'm', ...counted, costUsd };
  const commit = { turnId: `t-${name}`, outcome: 'answered', entries: [], parts: [] } as const;
  await store.lanes.commit(held.lease, { ...commit, usage, leaves: true }, AT + 1_900);
  await store.close();
}
async function run(...args: readonly string[]) {
  written.out = '';
  const code = await main(['--data', folder.path, 'usage', ...args]);
  return { code, out: written.out.trimEnd() };
}

describe('parley usage without a running gateway', () => {
  it('[U07] prints one line for each day with usage, the total and the caps', async () => {
    writeFileSync(
      folder.settingsFile,
      'agent: { timeZone: Asia/Tokyo }\nspend: { totalDaily: { tokens: 5000, usd: 2 } }\n',
    );
    await answered('Ann', 0.01);
    expect(await run(...RANGE)).toEqual({
      code: 0,
      out: [
        '2026-11-19 to 2026-11-21 (Asia/Tokyo)',
        '',
        'day         turns  failed    in  cached  out     US$    p50    p95',
        '2026-11-21      1       0  1000     600   20  0.0100  1.9 s  1.9 s',
        'total           1       0  1000     600   20  0.0100  1.9 s  1.9 s',
        '',
        'today by everyone: 0 of 5000 tokens, $0.0000 of $2.00 (spend.totalDaily)',
      ].join('\n'),
    });
  });

  it('[U07] prints one line for each person, and escapes control characters in names', async () => {
    await answered('Ann', 0.01);
    await answered('\x1b[2JEve', null);
    const { out } = await run('--by', 'person', ...RANGE);
    expect(out).toContain('Ann (telegram:3)');
    expect(out).not.toContain('\x1b');
    expect(out).toMatch(/Eve \(telegram:\d\) +1 +0 +1000 +600 +20 +unknown /);
    expect(out).toMatch(/total +2 +0 +2000 +1200 +40 +>0\.0100 /);
    expect(out).toContain('The price of 1 turn is unknown');
    expect(out).toMatch(/today: 0 tokens, \$0\.0000; no cap is set \(spend\.totalDaily .*\)$/);
  });

  it('[U07] prints the whole report as JSON with --json', async () => {
    await answered('Ann', 0.01);
    const { out } = await run('--by', 'chat', '--json', ...RANGE);
    expect(JSON.parse(out)).toMatchObject({
      by: 'chat',
      days: [{ turns: 0 }, { turns: 0 }, { turns: 1 }],
      rows: [{ name: 'telegram:default:42', title: 'Ann', latency: { p50: 1_900 } }],
      caps: [],
    });
  });

  it('[U07] reports when there was no usage, and names the error in an invalid query', async () => {
    expect((await run(...RANGE)).out).toContain('Nothing was used.');
    const wrong = ['--until 2026-02-30', '--until soon', '--by mood', '--days 401'];
    for (const flags of wrong) expect((await run(...flags.split(' '))).code).toBe(2);
  });
});

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { locateDataFolder } from './data-folder.ts';
import { openLog } from './process-options.ts';
import { type LoadedSettings, readSettings } from './settings.ts';
import { listChangedSettings, SettingsWatch } from './settings-watch.ts';

const Line = z.looseObject({ level: z.string(), msg: z.string() });
const BEFORE = 'log: { level: warn, format: json }\nowners: [telegram:1]\n';
const TELEGRAM =
  'channels: { telegram: { token: "123456:abcdefghijklmnopqrstuvwxyzabcdefghi" } }\n';

let path: string;
let lines: z.infer<typeof Line>[];
let watch: SettingsWatch;
let log: ReturnType<typeof openLog>['log'];
let applied: LoadedSettings[];
/** Applies new settings; a test can replace it with a function that fails. */
let apply: () => Promise<void>;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-watch-'));
  const folder = locateDataFolder(path, {});
  writeFileSync(folder.settingsFile, BEFORE);
  const loaded = readSettings(folder, {});
  lines = [];
  applied = [];
  apply = async () => {};
  const logTo = { write: (line: string) => void lines.push(Line.parse(JSON.parse(line))) };
  const open = openLog({ folder, logTo }, loaded);
  log = open.log;
  const channels = CHANNEL_DEFINITIONS;
  watch = new SettingsWatch({ folder, env: {}, channels, loaded, ...open, everyMs: 20 });
  watch.start(async (now) => {
    await apply();
    applied.push(now);
  });
});
afterEach(async () => {
  await watch.stop();
  rmSync(path, { recursive: true });
});

/**
 * Replaces the settings file with a new file, as editors do. Resolves when the change has been
 * processed.
 */
async function save(text: string): Promise<void> {
  writeFileSync(join(path, 'new.yaml'), text);
  renameSync(join(path, 'new.yaml'), join(path, 'parley.yaml'));
  const before = lines.length;
  await expect.poll(() => lines.length, { timeout: 30_000 }).toBeGreaterThan(before);
}

describe('settings that change while Parley runs', () => {
  it('[D12] can change only the log level, immediately', async () => {
    const child = log.child({ part: 'x' });
    child.info({}, 'not said');
    await save(BEFORE.replace('warn', 'info'));
    expect(lines).toMatchObject([
      { level: 'info', msg: expect.stringContaining('all changes are in effect') },
    ]);
    child.info({}, 'said');
    expect(lines.at(-1)).toMatchObject({ part: 'x', msg: 'said' });
    expect(applied).toEqual([]);
  });

  it('[D12] are applied immediately, and logged without their values', async () => {
    await save(
      `${BEFORE.replace('telegram:1', 'telegram:2').replace('warn', 'info')}limits: { turnSteps: 3 }\n${TELEGRAM}`,
    );
    const changed = ['owners', 'limits.turnSteps', 'log.level', 'channels.telegram/default'];
    expect(lines).toMatchObject([{ level: 'info', changed: expect.arrayContaining(changed) }]);
    expect(JSON.stringify(lines)).not.toContain('abcdefghi');
    expect(applied).toMatchObject([
      {
        settings: { owners: ['telegram:2'], limits: { turnSteps: 3 } },
        channels: { 'telegram/default': { kind: 'ok' } },
      },
    ]);
    expect(watch.state).toEqual({ afterRestart: [], problems: [] });
  });

  it('[D12] are kept and reported if they need a restart, until the file contains the old values again', async () => {
    const moved = 'http: { port: 7500 }\nagent: { id: other }\nmedia: { maxFileMb: 3 }\n';
    await save(`${BEFORE.replace('telegram:1', 'telegram:2')}${moved}`);
    const afterRestart = ['agent.id', 'http.port', 'media.maxFileMb'];
    expect(lines).toMatchObject([
      { level: 'warn', changed: ['owners'], afterRestart: expect.arrayContaining(afterRestart) },
    ]);
    expect(watch.state.afterRestart.toSorted()).toEqual(afterRestart);
    expect(applied).toMatchObject([{ settings: { agent: { id: 'main' }, http: { port: 7411 } } }]);
    await save(BEFORE.replace('warn', 'info'));
    expect(watch.state.afterRestart).toEqual([]);
    expect(applied.at(-1)?.settings.owners).toEqual(['telegram:1']);
  });

  it('[D12] may come from the profile that the file names', async () => {
    const profile = join(path, 'profiles/mine.yaml');
    mkdirSync(join(path, 'profiles'));
    writeFileSync(profile, 'layout: lab\n');
    await save(`${BEFORE.replace('warn', 'info')}agent: { profile: mine }\n`);
    expect(applied).toMatchObject([{ settings: { agent: { layout: 'lab' } } }]);
    writeFileSync(profile, 'layout: parley\n');
    await expect.poll(() => applied.at(-1)?.settings.agent.layout).toBe('parley');
    const named = join(path, 'profiles/layout');
    writeFileSync(named, 'lab');
    writeFileSync(profile, `layout: "\${file:layout}"\n`);
    await expect.poll(() => applied.at(-1)?.settings.agent.layout).toBe('lab');
    writeFileSync(named, 'parley');
    await expect.poll(() => applied.at(-1)?.settings.agent.layout).toBe('parley');
  });

  it('[D12] [F14] may belong to a single agent, whose workspace stays the same until a restart', async () => {
    const agents = 'agents: { b: { heartbeat: { steps: 4 }, profile: mine } }\n';
    const profile = join(path, 'profiles/mine.yaml');
    mkdirSync(join(path, 'profiles'));
    writeFileSync(profile, 'layout: lab\n');
    const folder = locateDataFolder(path, {});
    writeFileSync(folder.settingsFile, `${BEFORE.replace('warn', 'info')}${agents}`);
    await expect.poll(() => applied.at(-1)?.agents.get('b')?.heartbeat.steps).toBe(4);
    expect(lines.at(-1)).toMatchObject({ changed: ['agents.b', 'log.level'] });
    writeFileSync(profile, 'layout: parley\n');
    await expect.poll(() => applied.at(-1)?.agents.get('b')?.agent.layout).toBe('parley');
    expect(lines.at(-1)).toMatchObject({ changed: ['agents.b'] });
    const before = readSettings(folder, {});
    writeFileSync(folder.settingsFile, `${BEFORE}heartbeat: { repeatHours: 3 }\n${agents}`);
    expect(listChangedSettings(before, readSettings(folder, {}))).toEqual([
      'heartbeat.repeatHours',
      'log.level',
    ]);
  });

  it('[D12] may refer to a separate file, and a replaced secret in it is used without a restart', async () => {
    const secret = join(path, 'token-of-the-bot');
    const token = (letter: string) => `123456:${letter.repeat(35)}`;
    const reference = '$' + '{file:token-of-the-bot}';
    await save(
      `${BEFORE.replace('warn', 'info')}channels: { telegram: { token: "${reference}" } }\n`,
    );
    expect(applied.at(-1)?.channels['telegram/default']?.kind).toBe('broken');
    const used = () => applied.at(-1)?.channels['telegram/default'];
    for (const letter of ['a', 'b']) {
      writeFileSync(secret, token(letter));
      await expect.poll(used).toMatchObject({ kind: 'ok', settings: { token: token(letter) } });
    }
    rmSync(secret);
    await expect.poll(() => used()?.kind).toBe('broken');
    expect(JSON.stringify(lines)).not.toContain('aaaa');
  });

  it('[D12] are reported if invalid, as at startup, and the previous settings stay in use', async () => {
    await save('log: { level: loud }\n');
    const problems = [expect.stringContaining('log.level has a value that does not fit')];
    expect(lines).toMatchObject([{ level: 'error', problems }]);
    expect(watch.state).toEqual({ afterRestart: [], problems });
    log.info({}, 'not said');
    expect(lines).toHaveLength(1);
    expect(applied).toEqual([]);
  });

  it('[D12] are reported if they cannot be applied, and used as soon as they are fixed', async () => {
    apply = () => Promise.reject(new Error('the workspace is away'));
    await save(BEFORE.replace('telegram:1', 'telegram:2'));
    expect(lines).toMatchObject([{ level: 'error', reason: 'the workspace is away' }]);
    expect(watch.state.problems).toEqual(['the workspace is away']);
    apply = async () => {};
    await save(BEFORE.replace('telegram:1', 'telegram:3').replace('warn', 'info'));
    expect(applied).toMatchObject([{ settings: { owners: ['telegram:3'] } }]);
    expect(watch.state.problems).toEqual([]);
  });
});

describe('the list of changed settings', () => {
  it('[D12] is empty if only comments changed', () => {
    const folder = locateDataFolder(path, {});
    const before = readSettings(folder, {});
    writeFileSync(folder.settingsFile, `# mine\n\n${BEFORE}`);
    expect(listChangedSettings(before, readSettings(folder, {}))).toEqual([]);
  });
});

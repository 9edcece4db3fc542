import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { listModelChoices, ModelSettings } from '@parley/models';
import { loadSettings, type SettingsProblem, type SettingsResult } from '@parley/settings';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const CORPUS = join(import.meta.dirname, 'settings');

const Expected = z.strictObject({
  /**
   * What Parley works with: `owners`; `helper:owners`, of the agent helper; `telegram/default.allow`, of the access of an
   * account. Absent: the file is not looked at further.
   */
  values: z.record(z.string(), z.unknown()).optional(),
  /** All that is said of the file: where, words of what is expected, and what was probably meant. */
  problems: z.array(
    z.strictObject({
      path: z.string(),
      says: z.array(z.string()),
      nearest: z.string().optional(),
    }),
  ),
});

const folder = mkdtempSync(join(tmpdir(), 'parley-corpus-'));
afterAll(() => rmSync(folder, { recursive: true }));

const names = readdirSync(CORPUS);
const cases = names.filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5));

describe('[D12] settings with ids, as people write them', () => {
  it('have an expectation beside them, and each expectation its settings', () => {
    const expected = names.filter((name) => name.endsWith('.expected.json'));
    expect(expected.map((name) => name.replace('.expected.json', '')).sort()).toEqual(cases.sort());
  });

  it.each(cases)('are normalized, or refused with the right form: %s', (name) => {
    const written = readFileSync(join(CORPUS, `${name}.expected.json`), 'utf8');
    const { values = {}, problems } = Expected.parse(JSON.parse(written));
    const result = load(join(CORPUS, `${name}.yaml`));
    const said = problemsOf(result);
    expect(said.map(({ path }) => path).sort()).toEqual(problems.map(({ path }) => path).sort());
    for (const { path, says, nearest } of problems) {
      const problem = said.find((one) => one.path === path);
      for (const words of says) expect(problem?.expected).toContain(words);
      if (nearest !== undefined) expect(problem?.nearest).toBe(nearest);
    }
    for (const [key, value] of Object.entries(values)) expect(lookUp(result, key)).toEqual(value);
  });

  it('that can never match keep nothing from starting', () => {
    const result = load(join(CORPUS, 'ids-that-never-match.yaml'));
    expect(result.kind).toBe('ok');
    if (result.kind !== 'ok') return;
    expect(Object.values(result.channels).every(({ kind }) => kind === 'ok')).toBe(true);
    expect(result.warnings.map(({ kind }) => kind)).toEqual(Array(3).fill('no-effect'));
  });
});

function load(file: string): SettingsResult<ModelSettings> {
  return loadSettings({
    file,
    env: {},
    dataFolder: folder,
    modelSchema: ModelSettings,
    modelChoices: listModelChoices,
    channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map((one) => [one.id, one.settings])),
    channelIds: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, ids }) => [id, ids])),
    defaultChannels: ['web', 'terminal'],
  });
}

function problemsOf(result: SettingsResult<ModelSettings>): readonly SettingsProblem[] {
  if (result.kind === 'invalid') return [...result.problems, ...result.warnings];
  const broken = Object.values(result.channels).flatMap((one) =>
    one.kind === 'broken' ? one.problems : [],
  );
  return [...broken, ...result.warnings];
}

function lookUp(result: SettingsResult<ModelSettings>, key: string): unknown {
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems, null, 2));
  const [account = '', list = ''] = key.split('.');
  const found = result.channels[account];
  if (found?.kind === 'ok') return Reflect.get(found.access, list);
  const [, agent, path = key] = /^(\w+):(.+)$/.exec(key) ?? [];
  const root: unknown = agent === undefined ? result.settings : result.agents.get(agent);
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
      root,
    );
}

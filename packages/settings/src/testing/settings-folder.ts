import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';
import { loadSettings, type SettingsResult } from '../load-settings.ts';
import type { SettingsProblem } from '../source.ts';

const telegram = z.strictObject({
  token: z.string({ error: 'a bot token from @BotFather' }).min(10),
  apiRoot: z.url().default('https://api.telegram.org'),
  pollSeconds: z.int().default(25),
  silent: z.boolean().default(false),
});
const web = z.strictObject({ title: z.string().default('Parley') });
const modelSchema = z
  .union([
    z.enum(['auto', 'offline']),
    z.discriminatedUnion('provider', [
      z.strictObject({ provider: z.literal('local'), baseUrl: z.url(), apiKey: z.string() }),
      z.strictObject({ provider: z.literal('anthropic'), apiKey: z.string() }),
      z.strictObject({
        provider: z.literal('named'),
        apiKey: z.string(),
        model: z.string(),
        choices: z.array(z.string()).optional(),
      }),
    ]),
  ])
  .default('auto');

type Model = z.infer<typeof modelSchema>;

/** Lists the models in `choices` that the provider `named` offers. */
function listTestModelChoices(main: Model): ReadonlyMap<string, Model> {
  if (typeof main === 'string' || main.provider !== 'named') return new Map();
  return new Map(main.choices?.map((model) => [model, { ...main, model }]));
}

/** The schemas of two channels and a model. */
export const settingsSchemas = {
  channelSchemas: { telegram, web },
  modelSchema,
  modelChoices: listTestModelChoices,
};

/** Creates the environment for a settings test: a separate folder, two channels and a model. */
export function createSettingsFolder() {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function loadFile(file: string, env: Record<string, string> = {}) {
    return loadSettings({
      file,
      env,
      dataFolder: '/data',
      ...settingsSchemas,
      defaultChannels: ['web'],
    });
  }

  return {
    /** Returns a path in the folder. */
    path: (name: string) => join(folder, name),
    loadFile,
    load(yaml: string, env: Record<string, string> = {}) {
      const file = join(folder, 'parley.yaml');
      writeFileSync(file, yaml);
      return loadFile(file, env);
    },
  };
}

/** Returns a valid result; throws if the result is invalid. */
export function getValidSettings<T>(result: SettingsResult<T>) {
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
}

/** Returns an invalid result's problems; throws if the result is valid. */
export function getProblems<T>(result: SettingsResult<T>): readonly SettingsProblem[] {
  if (result.kind === 'ok') throw new Error('expected invalid settings');
  return result.problems;
}

/** Returns a broken account's problems; throws if the account is not broken. */
export function getAccountProblems<T>(
  result: SettingsResult<T>,
  account: string,
): readonly SettingsProblem[] {
  const found = getValidSettings(result).channels[account];
  if (found?.kind !== 'broken') throw new Error(`expected ${account} to be broken`);
  return found.problems;
}

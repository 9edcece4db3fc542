import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAdapterCatalog } from '@parley/channel-chat-sdk';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { ModelSettings } from '@parley/models';
import { loadSettings, type SettingsProblem } from '@parley/settings';
import { createSettingsJsonSchema } from '@parley/settings/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';

const schemas = {
  modelSchema: ModelSettings,
  channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, settings }) => [id, settings])),
  hostedSchema: loadAdapterCatalog().AnyAdapterSettings,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Every problem in a file with these settings, including its channels. */
function problemsOf(settings: unknown): readonly SettingsProblem[] {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, stringify(settings));
  const loaded = loadSettings({ file, env: {}, dataFolder: folder, ...schemas });
  if (loaded.kind === 'invalid') return loaded.problems;
  const broken = Object.values(loaded.channels).flatMap((account) =>
    account.kind === 'broken' ? account.problems : [],
  );
  return [...broken, ...loaded.warnings];
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/**
 * The settings with every leaf replaced by one value; for alternatives, the alternative at
 * `choice`.
 */
function filled(schema: JsonSchema, value: unknown, choice: number): unknown {
  const root = schema;
  const fill = (raw: JsonSchema, depth: number): unknown => {
    const name = raw.$ref?.split('/').at(-1);
    const one = name === undefined ? raw : (root.$defs?.[name] ?? raw);
    if (depth > 8) return value;
    const branches = [...(one.anyOf ?? []), ...(one.oneOf ?? [])];
    const branch = branches[choice % Math.max(1, branches.length)];
    if (branch !== undefined && one.properties === undefined) return fill(branch, depth + 1);
    const { properties, additionalProperties: others, items } = one;
    if (items !== undefined) return [fill(items, depth + 1)];
    if (properties === undefined && typeof others !== 'object') return value;
    const entries = Object.entries(properties ?? {}).map(([key, inner]) => [
      key,
      fill(inner, depth + 1),
    ]);
    if (typeof others === 'object') entries.push(['some', fill(others, depth + 1)]);
    return Object.fromEntries(entries);
  };
  return fill(schema, 0);
}

const BAD = [
  null,
  true,
  -1,
  0.5,
  1e15,
  '',
  'a b',
  'ws://example.org/',
  'x'.repeat(120),
  [],
  ['a b', 'a b'],
  {},
];

describe('error messages for invalid settings', () => {
  it('[D12] complete "SETTING must be …" and "expected: …" as one sentence, for every setting', () => {
    const schema = createSettingsJsonSchema(schemas) as JsonSchema;
    const said = new Map<string, string>();
    const look = (settings: unknown) => {
      for (const { path, expected, kind } of problemsOf(settings)) {
        if (kind !== 'unknown-key') said.set(expected, path);
      }
    };
    for (const value of BAD) {
      for (const choice of [0, 1]) {
        const all = filled(schema, value, choice) as Record<string, unknown>;
        look(all);
        // Errors in other settings hide errors in a channel.
        look({ channels: all.channels });
      }
    }
    const wrong = [...said].filter(([expected]) => !isPhrase(expected));
    expect(wrong).toEqual([]);
    expect(said.size).toBeGreaterThan(80);
  });

  it.each([
    ['must be a port', 'a port'],
    ['must begin with wss://', 'a value that must begin with wss://'],
  ])('[D12] read as a sentence when an external channel reports %j', (message, phrase) => {
    const port = z.object({ port: z.string().regex(/^x$/, message) });
    const file = join(folder, 'others.yaml');
    writeFileSync(file, stringify({ channels: { lines: { port: 'a' } } }));
    const options = { file, env: {}, dataFolder: folder, modelSchema: ModelSettings };
    const loaded = loadSettings({ ...options, channelSchemas: { lines: port } });
    if (loaded.kind === 'invalid') throw new Error('the core is right');
    const account = loaded.channels['lines/default'];
    expect(account).toMatchObject({ kind: 'broken', problems: [{ expected: phrase }] });
  });
});

/** Whether this is a phrase that names a valid value, rather than a sentence or zod terms. */
function isPhrase(expected: string): boolean {
  return !/^(?:must|should|expected|invalid|too (?:small|big)|has to|is|be|not|string|array|to) ?\b|\binvalid input|\breceived\b|[.!]$|^[A-Z][a-z]+ (?:is|must|has)/i.test(
    expected,
  );
}

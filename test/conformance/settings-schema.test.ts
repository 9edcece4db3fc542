import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { loadAdapterCatalog } from '@parley/channel-chat-sdk';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { ModelSettings } from '@parley/models';
import { loadSettings } from '@parley/settings';
import { createSettingsJsonSchema } from '@parley/settings/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';

const CONFIG = new URL('../../config/', import.meta.url);
const schemas = {
  modelSchema: ModelSettings,
  channelSchemas: Object.fromEntries(CHANNEL_DEFINITIONS.map(({ id, settings }) => [id, settings])),
  hostedSchema: loadAdapterCatalog().AnyAdapterSettings,
};

/** Settings in the template that have no default. */
const EXAMPLES: readonly string[] = [
  'agent.name',
  'agent.role',
  'agent.emoji',
  'agent.timeZone',
  'agent.profile',
  'agent.persona',
  'agent.responseFormat',
  'agent.context.todos',
  'model.provider',
  'model.baseUrl',
  'model.apiKey',
  'model.model',
  'model.contextTokens',
  'model.vision',
  'agents.support.name',
  'agents.support.profile',
  'agents.support.workspace',
  'channels.telegram.token',
  'channels.telegram.localFiles',
  'channels.telegram.webhook.url',
  'channels.telegram.webhook.secret',
  'channels.discord.token',
  'channels.whatsapp.phone',
  'skills.entries.weather.show',
  'skills.entries.weather.apiKey',
  'web.search.searxng.baseUrl',
  'web.search.brave.apiKey',
  'media.transcription.baseUrl',
  'media.transcription.apiKey',
  'media.transcription.model',
  'media.speech.baseUrl',
  'media.speech.apiKey',
  'media.speech.model',
  'hooks.ci.token',
  'hooks.ci.instruction',
  'hooks.ci.fields',
  'http.publicUrl',
  'api.clients.laptop.token',
  'api.clients.laptop.agent',
  'queue.url',
  'store.url',
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string) {
  const file = join(folder, 'parley.yaml');
  writeFileSync(file, yaml);
  const env = {
    TELEGRAM_BOT_TOKEN: `123456:${'A'.repeat(35)}`,
    TELEGRAM_WEBHOOK_SECRET: 'a-secret-of-this-webhook',
    PARLEY_API_LAPTOP: 'a-token-of-a-client-of-the-api-1234',
    DISCORD_BOT_TOKEN: 'MTkw.abc.def',
    CI_HOOK_TOKEN: '4f9c'.repeat(8),
    POSTGRES_PASSWORD: 'pg',
    WEATHER_KEY: 'key-of-the-weather',
  };
  return loadSettings({ file, env, dataFolder: folder, ...schemas });
}

const template = () => readFileSync(new URL('parley.example.yaml', CONFIG), 'utf8');
const uncommented = () => template().replaceAll(/^#(?=\w| {2,}\S)/gm, '');

/** Each setting in the template, classified by the settings that result without its line. */
function shownLines() {
  const text = uncommented();
  const whole = load(text);
  const parsed = parseDocument(text);
  return leavesOf(parse(text), []).map((path) => {
    const document = parsed.clone();
    document.deleteIn(path);
    const rest = load(String(document));
    const isDefault = isDeepStrictEqual({ ...rest, secrets: [] }, { ...whole, secrets: [] });
    // Without this setting, the time zone of the machine applies.
    const isZone = path.at(-1) === 'timeZone';
    const isExample = isZone || rest.kind === 'invalid' || settingAt(rest, path) === undefined;
    const kind =
      isDefault && !isZone ? 'default' : isExample ? 'example' : 'other than the default';
    return { path: path.join('.'), kind };
  });
}

function leavesOf(value: unknown, path: readonly string[]): string[][] {
  const isBlock = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isBlock ? Object.entries(value) : [];
  if (entries.length === 0) return [[...path]];
  return entries.flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

function settingAt(loaded: Extract<ReturnType<typeof load>, { kind: 'ok' }>, path: string[]) {
  const [section, channel = '', ...rest] = path;
  if (section !== 'channels') return at(loaded.settings, path);
  const account = loaded.channels[`${channel}/default`];
  return at(account, rest) ?? (account?.kind === 'ok' ? at(account.settings, rest) : undefined);
}

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => Object(inner)[key], value);

/** Formats like the repository's formatter: a list of words stays on one line if it fits. */
function formatted(schema: object): string {
  const list = /^( *(?:"[^"]*": )?)\[\n([^[\]{}]*?)\n *\](,?)$/gm;
  const oneLine = (all: string, before: string, inside: string, comma: string) => {
    const line = `${before}[${inside.trim().replaceAll(/,\n */g, ', ')}]${comma}`;
    return line.length <= 100 ? line : all;
  };
  return `${JSON.stringify(schema, null, 2).replaceAll(list, oneLine)}\n`;
}

describe('the files in config/', () => {
  it('[D12] contain the schema that the running program validates with (vitest -u writes it)', async () => {
    const text = formatted(createSettingsJsonSchema(schemas));
    await expect(text).toMatchFileSnapshot('../../config/parley.schema.json');
  });

  it('[U05] contain a template that shows each default unchanged, so that no line weakens a guard', () => {
    const lines = shownLines();
    const guards = ['exec.enabled', 'exec.approval', 'exec.network', 'web.fetch.approval'];
    expect(lines.map(({ path }) => path)).toEqual(
      expect.arrayContaining([...guards, 'http.host', 'channels.telegram.access.direct']),
    );
    expect(lines.filter(({ kind }) => kind === 'other than the default')).toEqual([]);
    // Settings without a default show an example; review each new one before listing it here.
    const examples = lines.filter(({ kind }) => kind === 'example').map(({ path }) => path);
    expect(examples).toEqual(EXAMPLES);
  });

  it('[U05] contain a template whose secrets are references', () => {
    const secrets = [...uncommented().matchAll(/(?:token|secret|apiKey|password): (\S+)/gi)];
    expect(secrets.length).toBeGreaterThan(5);
    for (const [line, value] of secrets) expect(value, line).toMatch(/^\$\{/);
  });

  it('[D12] contain a template in which every commented line is a valid setting', () => {
    const result = load(uncommented());
    expect(result).toMatchObject({ kind: 'ok', warnings: [] });
    if (result.kind !== 'ok') return;
    expect(Object.values(result.channels)).toEqual([
      expect.objectContaining({ kind: 'ok', channel: 'telegram', activation: 'mention' }),
      expect.objectContaining({ kind: 'ok', channel: 'discord' }),
      expect.objectContaining({ kind: 'ok', channel: 'whatsapp' }),
    ]);
    const sections = [...template().matchAll(/^#(\w+):/gm)].map((match) => match[1]);
    expect(Object.keys(result.settings)).toEqual(
      expect.arrayContaining(sections.filter((section) => section !== 'channels')),
    );
  });
});

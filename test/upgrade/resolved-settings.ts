import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { locateDataFolder } from '@parley/cli';
import { parse } from 'yaml';
import { checkSettings } from '../../apps/parley/src/settings.ts';

/** The supposed location of the fixture's settings; nothing has to exist there. */
const INSTALLATION = '/srv/parley';

/** The resolved settings of a fixture, by file name. */
type ResolvedSettings = Readonly<Record<string, object>>;

const RESOLVED = 'resolved.json.gz';

/** Reads all settings files of a folder as a startup does, without machine-dependent values. */
export function resolveAllSettings(folder: string): ResolvedSettings {
  return Object.fromEntries(
    listSettingsFiles(folder).map((name) => [name, resolveFile(join(folder, name))]),
  );
}

function listSettingsFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted();
}

function resolveFile(settingsFile: string): object {
  const result = checkSettings({ ...locateDataFolder(INSTALLATION, {}), settingsFile }, {});
  if (result.kind === 'invalid') return { problems: result.problems };
  const { settings, agents, channels } = result;
  const all = { settings, agents: Object.fromEntries(agents), channels };
  return JSON.parse(JSON.stringify(all));
}

/** The settings as resolved by the Parley that created the fixture. */
export function readStoredSettings(folder: string): ResolvedSettings {
  return JSON.parse(gunzipSync(readFileSync(join(folder, RESOLVED))).toString('utf8'));
}

/**
 * Stores how the current Parley resolves the settings. Throws when a setting, or one of its
 * keywords, is in none of the files.
 */
export function writeResolved(folder: string): void {
  const resolved = resolveAllSettings(folder);
  for (const [name, values] of Object.entries(resolved))
    if ('problems' in values)
      throw new Error(`${name}: ${JSON.stringify(values.problems, null, 2)}`);
  const written = new Set(
    listSettingsFiles(folder).flatMap((name) =>
      listLeaves(parse(readFileSync(join(folder, name), 'utf8'))),
    ),
  );
  const schema = JSON.parse(
    readFileSync(new URL('../../config/parley.schema.json', import.meta.url), 'utf8'),
  );
  const missing = [...new Set(listPossibleLeaves(schema, ''))].filter(
    (leaf) => ![...written].some((one) => matchesLeaf(one, leaf)),
  );
  if (missing.length > 0) throw new Error(`In no file of ${folder}:\n${missing.join('\n')}`);
  writeFileSync(join(folder, RESOLVED), gzipSync(JSON.stringify(resolved), { level: 9 }));
}

/** `a.b=word` for each setting of a file; list indexes are left out. */
function listLeaves(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => listLeaves(one, path));
  if (typeof value !== 'object' || value === null) return [`${path}=${String(value)}`];
  return Object.entries(value).flatMap(([name, inner]) => listLeaves(inner, `${path}.${name}`));
}

interface SettingsSchema {
  readonly properties?: Readonly<Record<string, SettingsSchema>>;
  readonly additionalProperties?: SettingsSchema | boolean;
  readonly anyOf?: readonly SettingsSchema[];
  readonly oneOf?: readonly SettingsSchema[];
  readonly items?: SettingsSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/**
 * The same paths for everything that a schema allows: `*` for a name that people choose; without a
 * keyword where any value is allowed.
 */
function listPossibleLeaves(schema: SettingsSchema, path: string): readonly string[] {
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    // Accounts have their channel's settings, and an agent's model has the settings of a model.
    name === 'accounts' || `${path}.${name}` === '.agents.*.model'
      ? []
      : listPossibleLeaves(inner, `${path}.${name}`),
  );
  const { additionalProperties: any } = schema;
  const chosen = typeof any === 'object' ? listPossibleLeaves(any, `${path}.*`) : [];
  const several = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const ways = several.flatMap((one) => listPossibleLeaves(one, path));
  const items = schema.items === undefined ? [] : listPossibleLeaves(schema.items, path);
  const words = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  const own = words.map((word) => `${path}=${String(word)}`);
  const all = [...named, ...chosen, ...ways, ...items, ...own];
  return all.length > 0 ? all : [`${path}=`];
}

function matchesLeaf(written: string, possible: string): boolean {
  const [path = '', word = ''] = cut(written);
  const [pattern = '', needed = ''] = cut(possible);
  const names = path.split('.');
  const wanted = pattern.split('.');
  return (
    names.length >= wanted.length &&
    wanted.every((name, nth) => name === '*' || name === names[nth]) &&
    (needed === '' || (needed === word && names.length === wanted.length))
  );
}

const cut = (leaf: string) => [leaf.slice(0, leaf.indexOf('=')), leaf.slice(leaf.indexOf('=') + 1)];

/**
 * The new path of an earlier value. `to` is null when the meaning changed on purpose. `words` are
 * renamed keywords.
 */
interface SettingMove {
  readonly from: RegExp;
  readonly to: string | null;
  readonly words?: Readonly<Record<string, string>>;
}

/**
 * A release that renames a setting adds a line as below; paths look like
 * `settings.agents.support.heartbeat.notify` and `channels.telegram/default.access.direct`.
 */
const MOVES: readonly SettingMove[] = [
  // The version of the file itself.
  { from: /^(settings|agents\.[^.]+)\.version$/, to: null },
  { from: /\bheartbeat\.tell$/, to: 'heartbeat.notify' },
  { from: /\bheartbeat\.quietCharacters$/, to: 'heartbeat.quietMaxCharacters' },
  { from: /\bheartbeat\.upkeepNotes$/, to: 'heartbeat.memoryUpkeepDays' },
  { from: /\b(hooks\.[^.]+)\.does$/, to: '$1.action' },
  { from: /\bmedia\.pictureSide$/, to: 'media.maxImageDimension' },
  { from: /\bprompt\.filesInAll$/, to: 'prompt.totalFileCharacters' },
  { from: /\blimits\.waitingInAll$/, to: 'limits.totalWaiting' },
  { from: /\blimits\.subAgents\.atOnce$/, to: 'limits.subAgents.concurrent' },
  { from: /\banswer\.thoughtCharacters$/, to: 'answer.reasoningCharacters' },
  { from: /\bcron\.leastMinutes$/, to: 'cron.minMinutes' },
  { from: /\bsessions\.longestDays$/, to: 'sessions.maxDays' },
  { from: /\bwhenUncertain$/, to: 'whenUncertain', words: { tell: 'notify' } },
];

/** Each value of `before` that differs now, by its path. New values do not count. */
export function findChangedMeanings(before: unknown, now: object, path = ''): readonly string[] {
  if (typeof before === 'object' && before !== null && !Array.isArray(before))
    return Object.entries(before).flatMap(([name, inner]) =>
      findChangedMeanings(inner, now, path === '' ? name : `${path}.${name}`),
    );
  const { from = path, to = path, words = {} } = MOVES.find((move) => move.from.test(path)) ?? {};
  if (to === null) return [];
  const expected = formatMeaning(words[String(before)] ?? before);
  const today = formatMeaning(getValueAt(now, path.replace(from, to)));
  return today === expected ? [] : [`${path}: ${expected} became ${today}`];
}

/** Formats a value as JSON. A problem has the same meaning even if its advice is worded better. */
function formatMeaning(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === 'expected' ? undefined : inner));
}

/** Names may contain dots, so the longest existing name counts. */
function getValueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const name = Object.keys(value)
    .toSorted((a, b) => b.length - a.length)
    .find((one) => path === one || path.startsWith(`${one}.`));
  if (name === undefined) return undefined;
  return getValueAt(Reflect.get(value, name), path.slice(name.length + 1));
}

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '@parley/core';
import { findNearestWord } from './check.ts';
import { parseSettings } from './document.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './settings-file.ts';
import {
  type Block,
  findEmbeddedSecrets,
  formatPath,
  isSecretName,
  isSecretPath,
  listSecrets,
  type SettingsPath,
} from './source.ts';

/** The maximum size of a secret file, in bytes; a secret is a line or a PEM block. */
const LARGEST_SECRET_BYTES = 65_536;
/** The maximum nesting depth, which also stops at an alias that contains itself. */
const DEEPEST = 32;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the content to use if a file that a reference names is missing; undefined reports the
 * file as a problem.
 */
export type ReadMissingSecret = (file: string) => string | undefined;

/** A reference that cannot be resolved. */
export interface ReferenceProblem {
  readonly path: SettingsPath;
  readonly raw: string;
  readonly expected: string;
  readonly nearest?: string;
}

/** A piece of a value that came from the environment or from a separate file. */
interface ExternalFragment {
  readonly path: SettingsPath;
  readonly text: string;
  readonly isFile: boolean;
}

/** The settings with every reference replaced. */
export interface ResolvedReferences {
  readonly value: Block;
  /**
   * Values that came from outside the file, by path (`formatPath`), as they are written in the
   * file.
   */
  readonly outside: ReadonlyMap<string, string>;
  /** The pieces that came from outside the file, by path, for the list of secrets. */
  readonly pieces: readonly ExternalFragment[];
  readonly problems: readonly ReferenceProblem[];
  /** The files that references name, whether they exist or not. */
  readonly files: readonly string[];
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:/path}` (relative to the settings file) in
 * every text; `$${` is a literal `${`. A key without a value, such as the key of a section whose
 * lines are commented out, is dropped; a channel or agent without a value gets its defaults.
 */
export function resolveReferences(
  root: Block,
  env: Environment,
  settingsFile: string,
  missing: ReadMissingSecret = () => undefined,
): ResolvedReferences {
  const outside = new Map<string, string>();
  const pieces: ExternalFragment[] = [];
  const problems: ReferenceProblem[] = [];
  const files = new Set<string>();

  function walk(value: unknown, path: SettingsPath): unknown {
    if (path.length > DEEPEST) {
      problems.push({ path: path.slice(0, 3), raw: '…', expected: `at most ${DEEPEST} levels` });
      return undefined;
    }
    if (typeof value === 'string') return replace(value, path);
    if (Array.isArray(value)) return value.map((entry, index) => walk(entry, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return block(value, path);
  }

  function block(value: object, path: SettingsPath): Block {
    const entries = Object.entries(value).flatMap(([key, entry]) => {
      const below = [...path, key];
      if (entry === null && !isDefaultsPath(below)) return [];
      return [[key, walk(entry ?? {}, below)]];
    });
    return Object.fromEntries(entries);
  }

  function replace(raw: string, path: SettingsPath): string {
    if (!raw.includes('${')) return raw;
    outside.set(formatPath(path), raw);
    return raw.replaceAll(/\$\$\{|\$\{([^}]*)(\}?)/g, (match, body = '', close = '') => {
      if (match === '$${') return '${';
      const file = close === '' ? undefined : resolveSecretPath(body, settingsFile);
      if (file !== undefined) files.add(file);
      const found = close === '' ? malformed : lookUpReference(body, env, settingsFile);
      if (found.kind === 'found') {
        if (found.outside) {
          pieces.push({ path, text: found.text, isFile: body.startsWith('file:') });
        }
        return found.text;
      }
      const standIn = file === undefined || existsSync(file) ? undefined : missing(file);
      if (standIn !== undefined) return standIn;
      problems.push({ path, raw, ...found.problem });
      return match;
    });
  }

  const value = block(root, []);
  return { value, outside, pieces, problems, files: [...files] };
}

function isDefaultsPath(path: SettingsPath): boolean {
  const isAccount = path.length === 2 || (path.length === 4 && path[2] === 'accounts');
  return path[0] === 'channels' ? isAccount : path[0] === 'agents' && path.length === 2;
}

type LookupResult =
  | { readonly kind: 'found'; readonly text: string; readonly outside: boolean }
  | {
      readonly kind: 'lost';
      readonly problem: { readonly expected: string; readonly nearest?: string };
    };

const malformed: LookupResult = {
  kind: 'lost',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the characters people write.
  problem: { expected: '${NAME}, ${NAME:-default} or ${file:/path}; write $${ for a literal ${' },
};

function lookUpReference(body: string, env: Environment, settingsFile: string): LookupResult {
  const secretFile = resolveSecretPath(body, settingsFile);
  if (secretFile !== undefined) return lookUpFile(secretFile);
  const [, name, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(body) ?? [];
  if (name === undefined) return malformed;
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== '') return { kind: 'found', text: value, outside: true };
  if (fallback !== undefined) return { kind: 'found', text: fallback, outside: false };
  const meant = findNearestWord(
    name,
    Object.keys(env).filter((key) => key !== name),
  );
  return {
    kind: 'lost',
    problem: {
      expected: `the environment variable ${name} ${value === '' ? 'not to be empty' : 'to be set'}`,
      ...(meant === undefined ? {} : { nearest: meant }),
    },
  };
}

/** Resolves the path of the file that a reference names. */
function resolveSecretPath(body: string, settingsFile: string): string | undefined {
  const written = /^file:(.+)$/s.exec(body)?.[1]?.trim();
  if (written === undefined) return undefined;
  return resolve(dirname(settingsFile), written.replace(/^~(?=\/)/, homedir()));
}

function lookUpFile(file: string): LookupResult {
  try {
    const read = readTextFile(file, LARGEST_SECRET_BYTES);
    const text = read.kind === 'text' ? read.text.trim() : '';
    if (text !== '') return { kind: 'found', text, outside: true };
    const state = read.kind === 'text' ? 'not to be empty' : 'to exist';
    return { kind: 'lost', problem: { expected: `the file ${file} ${state}` } };
  } catch (error) {
    return { kind: 'lost', problem: { expected: `a file that can be read (${reasonOf(error)})` } };
  }
}

/**
 * Sections whose values may be shown to everyone; removing them from other text would only hide
 * ordinary words.
 */
const PUBLIC_SECTIONS: ReadonlySet<unknown> = new Set([
  ...['agent', 'http', 'log', 'lanes', 'limits', 'identity', 'skills'],
  ...['cron', 'heartbeat', 'soul', 'spend', 'inspector'],
]);
/**
 * Whether a path is in a public section. An agent's keys in `agents` are public, except `model`,
 * `tools`, `approvals` and `owners`.
 */
function isPublicPath(path: SettingsPath): boolean {
  if (path[0] !== 'agents') return PUBLIC_SECTIONS.has(path[0]);
  return !['model', 'tools', 'approvals', 'owners'].includes(String(path[2]));
}

/** Blocks in which every value may be a secret, under any key. */
const SECRET_BLOCKS: ReadonlySet<unknown> = new Set(['headers', 'env']);
const HARMLESS_HEADER = /^(?:accept|content|user-agent|cache-control)/i;

/**
 * Collects the values that must never leave the process (G18), without order or duplicates: every
 * value whose key indicates a secret (`token`, `apiKey`, `password`, …), every value in `headers`
 * and `env`, and every value from a secret file or the environment that looks like a secret. In
 * other values, secrets are the user parts, queries and secret paths of URLs, and the values of
 * flags such as `--api-key`.
 */
export function collectSecrets(resolved: ResolvedReferences): string[] {
  const secrets = new Set<string>();
  for (const { path, text, isFile } of resolved.pieces) {
    if (isSecretPath(path) || isFile) add(listSecrets(text));
    else if (!isPublicPath(path) && !path.includes('access') && isLikelySecret(text)) add([text]);
  }
  // An unresolved reference stays as written and is not a secret.
  const unresolved = new Set(resolved.problems.map((problem) => formatPath(problem.path)));
  walk(resolved.value, []);
  return [...secrets];

  function walk(value: unknown, path: SettingsPath): void {
    if (Array.isArray(value)) add(listFlagValues(value));
    if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key]);
    } else if (unresolved.has(formatPath(path))) {
      return;
    } else if (typeof value === 'string') {
      if (isSecretPath(path) || isSecretBlock(path, value)) add(listSecrets(value));
      add(listInnerSecrets(value));
    } else if (typeof value === 'number' && isSecretPath(path) && !isCountPath(path)) {
      add([String(value)]);
    }
  }

  function add(found: readonly string[]): void {
    for (const secret of found) if (secret !== '') secrets.add(secret);
  }
}

/** The minimum length of a secret; shorter values under such a key are words such as `none`. */
const MIN_SECRET_LENGTH = 8;

/**
 * Finds the paths at which a settings file contains secrets in plain text, such as `model.apiKey
 * (line 7)`.
 */
export function findPlainTextSecrets(file: string): readonly string[] {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  const document = parseSettings(read.kind === 'text' ? read.text : '');
  if (document.kind === 'broken') return [];
  const found: string[] = [];
  const walk = (value: unknown, path: SettingsPath): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value)) walk(entry, [...path, key]);
    }
    if (typeof value !== 'string' || value.includes('${')) return;
    const isSecret = isSecretPath(path) && value.length >= MIN_SECRET_LENGTH;
    if (!isSecret && !isSecretBlock(path, value) && listInnerSecrets(value).length === 0) return;
    const line = document.locate(path, 'value')?.line;
    found.push(`${formatPath(path)}${line === undefined ? '' : ` (line ${line})`}`);
  };
  walk(document.value, []);
  return found;
}

/** Lists the secrets inside a value that is not a secret as a whole. */
function listInnerSecrets(value: string): readonly string[] {
  return findEmbeddedSecrets(value).flatMap(({ text, isNamed }) =>
    text !== '' && (isNamed || isLikelySecret(text)) ? [text] : [],
  );
}

function isSecretBlock(path: SettingsPath, value: string): boolean {
  const name = String(path.at(-1));
  return SECRET_BLOCKS.has(path.at(-2)) && !HARMLESS_HEADER.test(name) && isLikelySecret(value);
}

/** Whether a key such as `tokens: 200000` specifies an amount. */
function isCountPath(path: SettingsPath): boolean {
  return /tokens$/i.test(String(path.at(-1)));
}

/**
 * Lists the values of flags such as `--api-key VALUE` and `--header NAME: VALUE` in a program's
 * arguments.
 */
function listFlagValues(list: readonly unknown[]): readonly string[] {
  return list.flatMap((flag, nth) => {
    const value: unknown = list[nth + 1];
    const isNamed = typeof flag === 'string' && /^--?[\w-]+$/.test(flag) && isSecretName(flag);
    return isNamed && typeof value === 'string' && !value.startsWith('-') ? listSecrets(value) : [];
  });
}

/**
 * Whether a value with a neutral name is treated as a secret: 8 characters or more, and neither a
 * word, a number, a date, a path, a URL nor a media type.
 */
function isLikelySecret(value: string): boolean {
  if (value.length < 8) return false;
  const plain = [
    /^[a-z]{1,11}$/i,
    // Matches a person's id, with or without a channel.
    /^(?:[a-z-]+:)?\d{1,20}$/,
    /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/,
    /^(?:~|\.{0,2})\//,
    /^[a-z][a-z0-9+.-]*:\/\//i,
    /^(?:application|audio|font|image|multipart|text|video)\/[\w.+-]+/i,
  ];
  return !plain.some((look) => look.test(value));
}

import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '@parley/contracts';
import type { Block } from './block.ts';
import { nearest } from './nearest.ts';
import { formatPath, type SettingsPath } from './path.ts';
import { readTextFile } from './read-text.ts';

/** A secret is a line or a PEM block. */
const LARGEST_SECRET_BYTES = 65_536;
/** Deeper than any settings; ends the walk through an alias that contains itself. */
const DEEPEST = 32;

/** The values of a process's environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference that leads nowhere. */
export interface ReferenceProblem {
  readonly path: SettingsPath;
  readonly raw: string;
  readonly expected: string;
  readonly nearest?: string;
}

/** A piece of a value that came from the environment, or from a file of its own. */
interface OutsidePiece {
  readonly path: SettingsPath;
  readonly text: string;
  readonly isFile: boolean;
}

/** The settings with every reference replaced. */
export interface Resolved {
  readonly value: Block;
  /** Values that came from outside the file: their path (`formatPath`), and how the file wrote them. */
  readonly outside: ReadonlyMap<string, string>;
  /** The pieces that came from outside, by path, for the list of secrets. */
  readonly pieces: readonly OutsidePiece[];
  readonly problems: readonly ReferenceProblem[];
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${file:/path}` (relative to the settings file) in every
 * text; `$${` stands for a literal `${`. A key with nothing behind it, as remains of a section whose
 * lines are commented out, is left out; a channel with nothing behind it means its defaults.
 */
export function resolveReferences(root: Block, env: Environment, settingsFile: string): Resolved {
  const outside = new Map<string, string>();
  const pieces: OutsidePiece[] = [];
  const problems: ReferenceProblem[] = [];

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
      if (entry === null && !isAccount(below)) return [];
      return [[key, walk(entry ?? {}, below)]];
    });
    return Object.fromEntries(entries);
  }

  function replace(raw: string, path: SettingsPath): string {
    if (!raw.includes('${')) return raw;
    outside.set(formatPath(path), raw);
    return raw.replaceAll(/\$\$\{|\$\{([^}]*)(\}?)/g, (match, body = '', close = '') => {
      if (match === '$${') return '${';
      const found = close === '' ? malformed : lookUp(body, env, settingsFile);
      if (found.kind === 'found') {
        if (found.outside) {
          pieces.push({ path, text: found.text, isFile: body.startsWith('file:') });
        }
        return found.text;
      }
      problems.push({ path, raw, ...found.problem });
      return match;
    });
  }

  const value = block(root, []);
  return { value, outside, pieces, problems };
}

function isAccount(path: SettingsPath): boolean {
  return (
    path[0] === 'channels' && (path.length === 2 || (path.length === 4 && path[2] === 'accounts'))
  );
}

type Lookup =
  | { readonly kind: 'found'; readonly text: string; readonly outside: boolean }
  | {
      readonly kind: 'lost';
      readonly problem: { readonly expected: string; readonly nearest?: string };
    };

const malformed: Lookup = {
  kind: 'lost',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: these are the characters people write.
  problem: { expected: '${NAME}, ${NAME:-default} or ${file:/path}; write $${ for a literal ${' },
};

function lookUp(body: string, env: Environment, settingsFile: string): Lookup {
  const secretFile = /^file:(.+)$/s.exec(body)?.[1];
  if (secretFile !== undefined) return lookUpFile(secretFile.trim(), settingsFile);
  const [, name, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(body) ?? [];
  if (name === undefined) return malformed;
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== '') return { kind: 'found', text: value, outside: true };
  if (fallback !== undefined) return { kind: 'found', text: fallback, outside: false };
  const meant = nearest(
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

function lookUpFile(written: string, settingsFile: string): Lookup {
  const file = resolve(dirname(settingsFile), written.replace(/^~(?=\/)/, homedir()));
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

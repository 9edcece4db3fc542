import { createRequire } from 'node:module';
import type { Audience } from '@parley/core';
import type Matter from 'gray-matter';
import { parse } from 'yaml';
import type { z } from 'zod';
import { AudienceFrontMatter, decideAudience, isSkillFile } from './audience.ts';
import { parseLooseFrontMatter } from './skills/loose-matter.ts';
import { readRawTexts } from './skills/matter-entries.ts';
import { isForEveryone, toFrontMatterEntries } from './skills/skill-header.ts';
import { isBlank } from './text.ts';

const require = createRequire(import.meta.url);

/**
 * The maximum length of front matter that is parsed, in characters; real front matter has a few
 * hundred.
 */
const MAX_FRONT_MATTER = 16_000;

/**
 * The block above the text in a Markdown file. `refused`: front matter was intended but its meaning
 * is unknown, so callers must assume the strictest one. `body` is the text below the block, with
 * `\n` line breaks and without surrounding blank lines; `head` is the block with its opening and
 * closing lines, or empty if the block does not end.
 */
export type FrontMatter<Data> =
  | { readonly kind: 'none'; readonly head: ''; readonly body: string }
  | {
      readonly kind: 'parsed';
      readonly data: Readonly<Data>;
      readonly head: string;
      readonly body: string;
    }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      readonly head: string;
      readonly body: string;
    };

/**
 * Splits a Markdown file into front matter and body and validates the front matter with `schema`.
 * Only this function may use gray-matter, which by default runs `---js` blocks as code and has a
 * cache that turns the second read of a broken file into an empty result. Never throws.
 */
export function readFrontMatter<Data extends object>(
  file: string,
  schema: z.ZodType<Data>,
): FrontMatter<Data> {
  const text = normalizeFileStart(file);
  const firstLine = /^---(?!-)(.*)$/m.exec(text);
  if (firstLine === null || firstLine.index !== 0) return { kind: 'none', head: '', body: text };
  if (firstLine[1]?.trim() !== '') {
    return refuseFrontMatter(
      '',
      text,
      'only plain YAML front matter is read; the first line must be exactly ---',
    );
  }
  const end = text.indexOf('\n---', 2);
  if (end === -1)
    return refuseFrontMatter('', text, 'front matter is opened by --- and never closed');
  const body = text.slice(end + 4).replace(/^[^\n]*\n?/, '');
  const head = text.slice(0, text.length - body.length);
  if (!/^\n---[ \t]*(\n|$)/.test(text.slice(end))) {
    return refuseFrontMatter(
      head,
      body,
      'front matter must be closed by a line that is exactly ---',
    );
  }
  if (end > MAX_FRONT_MATTER) {
    return refuseFrontMatter(
      head,
      body,
      `front matter is longer than ${MAX_FRONT_MATTER} characters`,
    );
  }
  return parseFrontMatter(head, body, schema);
}

function parseFrontMatter<Data extends object>(
  head: string,
  body: string,
  schema: z.ZodType<Data>,
): FrontMatter<Data> {
  let data: unknown;
  try {
    data = loadGrayMatter()(head, { language: 'yaml', engines }).data;
  } catch (error) {
    return refuseFrontMatter(head, body, `front matter is not valid YAML (${getFirstLine(error)})`);
  }
  const checked = schema.safeParse(data);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    return refuseFrontMatter(
      head,
      body,
      `front matter: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    );
  }
  return { kind: 'parsed', data: Object.freeze(checked.data), head, body: trimBlankLines(body) };
}

/** The thirty modules of gray-matter are loaded only when a file first needs them. */
function loadGrayMatter(): typeof Matter {
  return require('gray-matter');
}

/**
 * Options are always passed to gray-matter, because it would otherwise use its cache and its own
 * engines.
 */
const engines = {
  yaml: parseYaml,
  json: refuseLanguage,
  javascript: refuseLanguage,
  coffee: refuseLanguage,
};

function parseYaml(block: string): object {
  const data: unknown = parse(block, {
    schema: 'core',
    maxAliasCount: 10,
    uniqueKeys: true,
    logLevel: 'error',
  });
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  throw new Error('expected "key: value" lines');
}

function refuseLanguage(): never {
  throw new Error('only YAML is read');
}

function refuseFrontMatter(head: string, body: string, reason: string): FrontMatter<never> {
  return { kind: 'refused', reason, head, body: trimBlankLines(body) };
}

/** The number of bytes at the start of a file that `mayHaveFrontMatter` examines. */
export const MAX_HEAD_BYTES = 4_096;

/**
 * Whether a file that begins with these bytes may have front matter, in any encoding. False only if
 * `---` cannot be the first visible characters: these are the same three bytes in all encodings
 * except UTF-16 and UTF-32, which have NULs between them. Invisible characters may extend beyond
 * the examined bytes, but they are not words.
 */
export function mayHaveFrontMatter(head: Uint8Array): boolean {
  const start = Buffer.from(head).toString('latin1');
  if (/-\0{0,3}-\0{0,3}-/.test(start)) return true;
  return head.length >= MAX_HEAD_BYTES && !/[A-Za-z]{4}/.test(start);
}

/**
 * Ignores invisible characters before the first line, because they must not change who may read the
 * file.
 */
function normalizeFileStart(file: string): string {
  const text = file.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  return trimBlankLines(text.replace(/^[\s\p{Cf}]+(?=---)/u, ''));
}

function trimBlankLines(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

function getFirstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}

/** A workspace file as it is cached: in full, with its audience decided. */
export interface ParsedFile {
  readonly name: string;
  /** The text without front matter, with `\n` line breaks and without surrounding blank lines. */
  readonly text: string;
  /** Whether the file is an empty form. */
  readonly isBlank: boolean;
  readonly audience: Audience;
  /** The audience declared in the file's front matter. */
  readonly declared: 'owner' | 'everyone' | undefined;
  /**
   * Why the file's audience cannot be determined, for people; the file is then private to the
   * owner.
   */
  readonly problem: string | null;
  /** A doubt about the file's decoding, as a sentence; null if there is none. */
  readonly warning: string | null;
}

/**
 * Parses a file's text and determines the file's audience. `hasTwin`: the file has a second name on
 * disk, which may be `MEMORY.md`, so the file is private to the owner.
 */
export function parseFile(name: string, raw: string, hasTwin: boolean): ParsedFile {
  const strict = readFrontMatter(raw, AudienceFrontMatter);
  const front = isSkillFile(name) ? toSkillAudience(strict, raw) : strict;
  const declared = front.kind === 'parsed' ? front.data.audience : undefined;
  const problem = describeFrontMatterProblem(front, hasTwin);
  const audience = decideAudience(name, problem === null ? declared : 'unknown');
  const { body: text } = front;
  return { name, text, isBlank: isBlank(text), audience, declared, problem, warning: null };
}

/**
 * Parses the front matter the way it is parsed for the skill itself (S11), so that the file and the
 * skill have the same audience (W03). It need not be YAML, its metadata may be hand-written JSON,
 * and it is open only if no word in it may mean otherwise.
 */
function toSkillAudience(
  strict: FrontMatter<AudienceFrontMatter>,
  raw: string,
): FrontMatter<AudienceFrontMatter> {
  if (strict.kind === 'none') return strict;
  if (strict.kind === 'parsed') {
    const isOpen = isForEveryone(toFrontMatterEntries(strict.data, readRawTexts(strict.head)));
    return isOpen ? strict : { ...strict, data: { ...strict.data, audience: 'owner' } };
  }
  const loose = parseLooseFrontMatter(raw);
  if (loose === null || !loose.foreveryone) return strict;
  return { kind: 'parsed', data: {}, head: loose.head, body: loose.body };
}

function describeFrontMatterProblem(front: FrontMatter<object>, hasTwin: boolean): string | null {
  if (front.kind === 'refused') return front.reason;
  return hasTwin ? 'the file has a second name (a hard link)' : null;
}

import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '@parley/core';
import {
  type EvalCase,
  formatCase,
  MAX_CASE_CHARACTERS,
  type ParsedCase,
  parseCase,
} from './eval-case.ts';

/** The folder of the cases in a workspace. Its files may contain private text. */
const CASE_FOLDER = 'evals';

const NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/i;
const ENDING = '.yaml';

export interface CaseFile {
  readonly name: string;
  readonly parsed: ParsedCase;
}

/** Lists the names of all cases in a workspace, in alphabetical order. */
export async function listCases(workspace: string): Promise<readonly string[]> {
  const entries = await readdir(join(workspace, CASE_FOLDER), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ENDING))
    .map(({ name }) => name.slice(0, -ENDING.length))
    .filter((name) => NAME.test(name))
    .toSorted();
}

/** Reads a case. Throws ParleyError `eval-unknown` if there is no such file. */
export async function readCase(workspace: string, name: string): Promise<CaseFile> {
  const path = toPath(workspace, name);
  const facts = await lstat(path).catch(() => null);
  if (facts === null || !facts.isFile()) throw createUnknown(workspace, name);
  if (facts.size > MAX_CASE_CHARACTERS * 4)
    return { name, parsed: { kind: 'broken', problems: ['It is too large to be a case.'] } };
  return { name, parsed: parseCase(await readFile(path, 'utf8')) };
}

/**
 * Writes a case, for the operator's account only. Throws ParleyError `eval-exists` if it exists and
 * `replace` is not set.
 */
export async function writeCase(
  workspace: string,
  name: string,
  value: EvalCase,
  { replace }: { readonly replace: boolean },
): Promise<string> {
  const path = toPath(workspace, name);
  await mkdir(join(workspace, CASE_FOLDER), { recursive: true, mode: 0o700 });
  const found = await lstat(path).catch(() => null);
  if (found !== null && !replace)
    throw new ParleyError({
      code: 'eval-exists',
      message: `The case ${name} exists already. Choose another name, or remove ${path}.`,
      retryable: false,
    });
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  await writeFile(temporary, formatCase(value), { mode: 0o600, flag: 'wx' });
  await rename(temporary, path);
  return path;
}

/** Which cases to remove when people ask to forget something (G15). */
export interface ForgetCasesOrder {
  readonly phrases: readonly string[];
  /** The ids of people in Parley, such as `telegram:42`. */
  readonly persons: readonly string[];
  /** Only cases from this conversation; null for all. */
  readonly only: string | null;
}

/**
 * Removes every case that contains one of the phrases or a message from one of the people. Returns
 * the names of the removed files. A broken case is searched as text, and belongs to any chat.
 */
export async function forgetCases(
  workspace: string,
  order: ForgetCasesOrder,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await listCases(workspace)) {
    const path = toPath(workspace, name);
    if (!isForgotten(await readFile(path, 'utf8'), order)) continue;
    await rm(path, { force: true });
    removed.push(`${CASE_FOLDER}/${name}${ENDING}`);
  }
  return removed;
}

function isForgotten(text: string, { phrases, persons, only }: ForgetCasesOrder): boolean {
  const parsed = parseCase(text);
  if (parsed.kind === 'broken') {
    const ids = persons.map((person) => person.slice(person.indexOf(':') + 1));
    return mentions(text, [...phrases, ...ids]);
  }
  const { messages = [], message } = parsed.value;
  if (only !== null && messages.every(({ conversationId }) => conversationId !== only))
    return false;
  const authors = [
    ...messages.map((row) => `${row.message.channel}:${row.message.sender.id}`),
    ...(message?.user === undefined ? [] : [`${message.channel}:${message.user}`]),
  ];
  return authors.some((author) => persons.includes(author)) || mentions(text, phrases);
}

/** YAML breaks and quotes long texts, so white space, quotes and backslashes are ignored. */
function mentions(text: string, phrases: readonly string[]): boolean {
  const fold = (one: string) =>
    one
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s\\"']+/g, '');
  const folded = fold(text);
  return phrases.some((phrase) => fold(phrase) !== '' && folded.includes(fold(phrase)));
}

function toPath(workspace: string, name: string): string {
  if (NAME.test(name)) return join(workspace, CASE_FOLDER, `${name}${ENDING}`);
  throw new ParleyError({
    code: 'eval-name',
    message: `"${name}" cannot be the name of a case. Use up to 80 letters, digits, dots, dashes and underscores.`,
    retryable: false,
  });
}

function createUnknown(workspace: string, name: string): ParleyError {
  return new ParleyError({
    code: 'eval-unknown',
    message: `There is no case ${name} in ${join(workspace, CASE_FOLDER)}. "parley eval --list" shows the cases.`,
    retryable: false,
  });
}

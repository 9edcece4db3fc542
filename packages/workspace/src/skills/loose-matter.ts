import { type FrontMatterEntry, parseFrontMatterEntries, readKey } from './matter-entries.ts';

/** The front matter of a SKILL.md that is not plain YAML, as far as it can be parsed. */
export interface LooseFrontMatter {
  readonly entries: readonly FrontMatterEntry[];
  readonly head: string;
  readonly body: string;
  /** Assumptions that were needed to parse the front matter, for people. */
  readonly warnings: readonly string[];
  /** Whether no word in the front matter could restrict who may read the skill. */
  readonly foreveryone: boolean;
}

/**
 * The maximum length of front matter that is parsed, in characters; the same as for strict YAML.
 */
const MAX_CHARACTERS = 16_000;

/**
 * Parses a skill's front matter as its author must have meant it (S11). Returns null if the file
 * has no front matter, or if the front matter is not in YAML or is too long; never throws.
 */
export function parseLooseFrontMatter(file: string): LooseFrontMatter | null {
  const text = file.replaceAll(/\r\n?/g, '\n').replace(/^[\s\p{Cf}]+(?=---)/u, '');
  const lines = text.split('\n');
  if (!/^---[ \t]*(?:ya?ml)?[ \t]*$/i.test(lines[0] ?? '')) return null;
  const split = findFrontMatterEnd(lines);
  const block = dedentLines(lines.slice(1, split.end));
  if (block.join('\n').length > MAX_CHARACTERS || countAliases(block) > MAX_ALIASES) return null;
  const entries = parseFrontMatterEntries(block);
  if (entries.length === 0) return null;
  const foreveryone = isForEveryone(split.warning === null ? block.join('\n') : text);
  const guesses = entries.flatMap(({ key, guess }) =>
    guess === null ? [] : [`"${key}" ${guess}`],
  );
  return {
    entries,
    head: `${lines.slice(0, split.body).join('\n')}\n`,
    body: lines
      .slice(split.body)
      .join('\n')
      .replace(/^(?:[ \t]*\n)+/, '')
      .trimEnd(),
    warnings: [
      ...(split.warning === null ? [] : [split.warning]),
      ...guesses,
      ...(foreveryone
        ? []
        : ['it is treated as private to the owner, because its front matter may say so']),
    ],
    foreveryone,
  };
}

/**
 * More aliases than authors write by hand; YAML that multiplies its aliases is meant to exhaust
 * memory.
 */
const MAX_ALIASES = 10;

function countAliases(lines: readonly string[]): number {
  if (!lines.some((line) => /(?:^|[\s,[{])&\w/.test(line))) return 0;
  return lines.reduce((sum, line) => sum + (line.match(/(?:^|[\s,[{])\*\w/g)?.length ?? 0), 0);
}

interface FrontMatterSplit {
  /** The index of the first line after the front matter, and of the first line of the text. */
  readonly end: number;
  readonly body: number;
  readonly warning: string | null;
}

/** Finds the end of the front matter: its closing line, or the most likely one. */
function findFrontMatterEnd(lines: readonly string[]): FrontMatterSplit {
  const prose = lines.findIndex((_line, nth) => nth > 0 && isBodyStart(lines, nth));
  const within = prose === -1 ? lines.length : prose;
  const find = (pattern: RegExp) => lines.findIndex((line, nth) => nth > 0 && pattern.test(line));
  const exact = find(/^---[ \t]*$/);
  if (exact !== -1 && exact < within) return { end: exact, body: exact + 1, warning: null };
  const near = find(/^[ \t]*(?:-{3,}|\.{3}|[–—]{1,3})[ \t]*(?:#.*)?$/);
  if (near !== -1 && near < within) {
    const warning = `line ${near + 1} was assumed to be the --- that closes the front matter`;
    return { end: near, body: near + 1, warning };
  }
  const warning = `the front matter is not closed by ---; it was assumed to end at line ${within}`;
  return { end: within, body: within, warning };
}

/**
 * A heading, or a sentence after a blank line, belongs to the skill's text and not to the front
 * matter.
 */
function isBodyStart(lines: readonly string[], nth: number): boolean {
  const line = lines[nth] ?? '';
  if ((lines[nth - 1] ?? '').trim() !== '' || nth === 1) return false;
  if (/^#{1,6} /.test(line)) return !lines.slice(nth + 1).some((more) => /^---[ \t]*$/.test(more));
  return line.trim() !== '' && !/^[\s#\-}\])"'.–—]/.test(line) && readKey(line) === null;
}

function dedentLines(lines: readonly string[]): readonly string[] {
  const depths = lines.filter((line) => line.trim() !== '').map((line) => line.search(/[^ ]/));
  const depth = Math.min(...depths);
  return Number.isFinite(depth) ? lines.map((line) => line.slice(depth)) : lines;
}

/**
 * Whether every mention of an audience means everyone. Any other mention may be a damaged owner
 * mark (W03).
 */
function isForEveryone(text: string): boolean {
  const folded = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase();
  return folded
    .split('\n')
    .filter((line) => /audience["'\s]*[:=]/.test(line))
    .every((line) => /^\s*["']?audience["']?\s*:\s*["']?everyone["']?\s*,?\s*$/.test(line));
}

import { escapeAmbiguousCharacters } from './shown-arguments.ts';

/**
 * Characters that a `*` never matches: those that join or start commands in a shell, and line
 * breaks.
 */
const NEVER_WILD: ReadonlySet<string> = new Set('\n\r;|&<>$`(){}');

/**
 * Whether an entry in the allow list covers a call. `write` covers all calls to a tool,
 * `write:notes/*` those whose whole subject matches. A `*` matches neither shell syntax that leads
 * to another command nor a step up to a parent folder: `git status; rm -r .` does not match `git
 * status*`. All other characters match literally.
 */
export function isAllowedByEntry(entry: string, tool: string, subject: string | null): boolean {
  const colon = entry.indexOf(':');
  if (colon === -1) return entry === tool;
  if (entry.slice(0, colon) !== tool || subject === null) return false;
  const pattern = entry.slice(colon + 1);
  if (!pattern.includes('*')) return pattern === subject;
  if (/(^|[\\/])\.\.([\\/]|$)/.test(subject)) return false;
  return matchesWildcards(pattern.split('*'), subject);
}

/**
 * Matches each piece at its first occurrence. A later occurrence is never needed: the text that a
 * `*` would skip to reach it contains only characters that a `*` can match, so the next `*` can
 * match that text as well.
 */
function matchesWildcards(pieces: readonly string[], subject: string): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const end = subject.length - last.length;
  if (!subject.startsWith(first) || !subject.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = subject.indexOf(piece, at);
    if (found === -1 || found + piece.length > end || !canMatchWildcard(subject, at, found))
      return false;
    at = found + piece.length;
  }
  return canMatchWildcard(subject, at, end);
}

function canMatchWildcard(subject: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    if (NEVER_WILD.has(subject.charAt(at))) return false;
  }
  return true;
}

/** The maximum length of a rule, in characters; a longer one would be unreadable in a list. */
const MAX_RULE_LENGTH = 300;

/**
 * Returns the allow list entry that covers exactly this subject; null if no entry can express that.
 */
export function createAllowEntry(tool: string, subject: string | null): string | null {
  if (subject === null || subject.trim() === '' || /[*\n\r]/.test(subject)) return null;
  if (escapeAmbiguousCharacters(subject) !== subject || !/^[a-z][a-z0-9_]{0,63}$/.test(tool))
    return null;
  const rule = `${tool}:${subject}`;
  return rule.length > MAX_RULE_LENGTH ? null : rule;
}

/** Whether an entry covers a call by its whole subject, without a `*`. */
export function isAllowedExactly(entry: string, tool: string, subject: string | null): boolean {
  return subject !== null && !entry.includes('*') && entry === `${tool}:${subject}`;
}

import { cleanOneLine } from './skill-text.ts';

const MAX_LENGTH = 64;
/** Quotes, template brackets and a backslash have a meaning in prompts, paths and commands. */
const UNUSABLE = /[`"\\{}$]/;
/** Matches a letter or digit in any script, or an emoji. */
const HAS_NAME = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

/** A skill's name; `warning` is set if the name that the author wrote cannot be used. */
export type SkillNameResult =
  | { readonly kind: 'named'; readonly name: string; readonly warning: string | null }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Names a skill by its front matter, or else by its folder. A name that could be mistaken for
 * something else (a path, a tag, or another name because of invisible characters) is hostile and is
 * refused, even if the folder has a usable name. Pure.
 */
export function resolveSkillName(written: string | undefined, folder: string): SkillNameResult {
  const own = normalizeName(written ?? '');
  const wrong = own === '' ? null : findHostileReason(own);
  if (wrong !== null) return { kind: 'refused', reason: `its name ${wrong}` };
  if (isUsableName(own)) return { kind: 'named', name: own, warning: null };
  const name = normalizeName(folder);
  if (findHostileReason(name) !== null || !isUsableName(name)) {
    return { kind: 'refused', reason: 'it has no name, and its folder name cannot be used' };
  }
  const warning = own === '' ? null : 'its name cannot be used, so the folder name is used';
  return { kind: 'named', name, warning };
}

/** Trims a name and removes leading slashes, such as in a command's name. */
function normalizeName(text: string): string {
  return text
    .normalize('NFC')
    .trim()
    .replace(/^\/+(?=[^./])/, '');
}

function isUsableName(name: string): boolean {
  return HAS_NAME.test(name) && !UNUSABLE.test(name);
}

function findHostileReason(name: string): string | null {
  if (name !== cleanOneLine(name)) return 'has line breaks or invisible characters';
  if ([...name].length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  if (/(?:^|\/)\.{1,2}(?:\/|$)|^[/~]/.test(name)) return 'is a path';
  return /[<>]/.test(name) ? 'is a tag' : null;
}

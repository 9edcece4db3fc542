import { estimateTokens } from '../estimate-tokens.ts';
import { escapeXml } from './skill-text.ts';

/** What the catalogue says of a skill. */
export interface CatalogueEntry {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Of SKILL.md, ready to read. */
  readonly location: string;
}

/** How much of the prompt skills may take (S05). */
export interface CatalogueLimits {
  readonly skills: number;
  /** Of the catalogue, and of the bodies that stand beside it. */
  readonly characters: number;
}

/** The catalogue of one session. */
export interface Catalogue {
  readonly text: string;
  /** Those in it, in order. */
  readonly entries: readonly CatalogueEntry[];
  /** How many the limits left out. */
  readonly left: number;
}

/** With the rules above the list, 20 skills stay below 2,000 tokens (S10). */
const ENTRY_TOKENS = 90;
/** A description is never cut to less than this, however long name and path are. In characters. */
const SHORTEST = 60;

/** As many of the skills as fit, the first ones first (S04, S05). */
export function catalogueOf(
  entries: readonly CatalogueEntry[],
  limits: CatalogueLimits,
): Catalogue {
  const most = Math.min(entries.length, limits.skills);
  const lines = entries.slice(0, most).map(entryText);
  const fits = (count: number) => wrap(lines.slice(0, count)).length <= limits.characters;
  const shown = largest(most, fits);
  return {
    text: wrap(lines.slice(0, shown)),
    entries: entries.slice(0, shown),
    left: entries.length - shown,
  };
}

/** One skill as the catalogue has it; a description that costs too much is cut and says so (P10). */
export function entryText(entry: CatalogueEntry): string {
  const { description } = entry;
  const whole = written(entry, description);
  if (estimateTokens(whole) <= ENTRY_TOKENS) return whole;
  const characters = [...description];
  const cut = (count: number) =>
    `${characters.slice(0, count).join('')} … [cut: ${count} of ${characters.length} characters]`;
  const fits = (count: number) => estimateTokens(written(entry, cut(count))) <= ENTRY_TOKENS;
  const shown = Math.max(largest(characters.length, fits), SHORTEST);
  return shown >= characters.length ? whole : written(entry, cut(shown));
}

function written({ name, location }: CatalogueEntry, description: string): string {
  const parts = [
    `<name>${escapeXml(name)}</name>`,
    `<description>${escapeXml(description)}</description>`,
    `<location>${escapeXml(location)}</location>`,
  ];
  return `<skill>${parts.join('')}</skill>`;
}

function wrap(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return ['<available_skills>', ...lines, '</available_skills>'].join('\n');
}

/** The largest number from 0 to `most` for which `fits` holds, found by bisection; `fits(0)` holds. */
export function largest(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

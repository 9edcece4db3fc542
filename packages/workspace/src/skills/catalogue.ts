import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Audience, type PromptPart } from '@parley/core';
import { z } from 'zod';
import { SKILL_FILE } from '../audience.ts';
import { estimateTokens, shortenAtClause } from '../text.ts';
import type { SkillSource } from './find-skills.ts';
import {
  getSkillFolderName,
  type KeySource,
  type ResolvedSkill,
  type SkillState,
  type UsableSkill,
} from './resolve-skills.ts';
import { cleanOneLine, escapeXml, type ShownFolder, toShownLocation } from './skill-text.ts';

/**
 * The skills for one session: determined when it begins, and the same in each of its turns (S07).
 * Survives JSON.
 */
export const SkillSnapshot = z.readonly(
  z.object({
    /** Changes whenever the text would. */
    version: z.string(),
    /** `<available_skills>…</available_skills>`; empty if no skill is eligible. */
    catalogue: z.string(),
    /** Bodies that are part of the prompt (`inline`, S06). */
    inline: z.readonly(z.array(z.readonly(z.object({ name: z.string(), body: z.string() })))),
    /** The names that the model may use, in the order of the catalog. */
    names: z.readonly(z.array(z.string())),
    /** Environment variables that the skills require. */
    requiredEnv: z.readonly(z.array(z.string())),
    /** The allowed names; null allows all. */
    filter: z.readonly(z.array(z.string())).nullable(),
    /** How many eligible skills the limits excluded (S05). */
    left: z.int().nonnegative(),
    /** The strictest audience of its sources. */
    audience: Audience,
  }),
);
export type SkillSnapshot = z.infer<typeof SkillSnapshot>;

/** A skill's text, without its front matter, as it is on disk now. */
export interface SkillText extends PromptPart {
  readonly kind: 'skill';
  readonly name: string;
}

/** Why there is no text; a skill that the reader may not see appears not to exist. */
export interface AbsentSkill {
  readonly kind: 'absent';
  readonly reason: 'unknown' | 'unreadable';
  /** For the model and for people. */
  readonly detail: string;
}

/** The parts of a snapshot. */
export interface SnapshotParts {
  readonly catalogue: Catalogue;
  /** The skills in the catalog and in full, in order of precedence. */
  readonly skills: readonly UsableSkill[];
  readonly inline: SkillSnapshot['inline'];
  readonly filter: readonly string[] | null;
}

/** Assembles a snapshot (S07); its version is a hash of everything in it. */
export function makeSnapshot({ catalogue, skills, inline, filter }: SnapshotParts): SkillSnapshot {
  const isPrivate = skills.some(({ audience }) => audience.kind === 'owner');
  const audience: Audience = isPrivate ? { kind: 'owner' } : { kind: 'everyone' };
  const content = {
    catalogue: catalogue.text,
    inline,
    names: skills.map(({ skill }) => skill.name),
    requiredEnv: [...new Set(skills.flatMap(({ skill }) => skill.requires.env))].sort(),
    filter,
    left: catalogue.left,
    audience,
  };
  const version = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return { version: version.slice(0, 16), ...content };
}

/**
 * Divides skills into those that are in the prompt in full and the catalog of the others. Bodies
 * get the space that the catalog leaves, in order; a skill whose body does not fit is in the
 * catalog.
 */
export function divideSkills(
  all: readonly CatalogueEntry[],
  texts: readonly { readonly skill: DescribedSkill; readonly text: SkillText | AbsentSkill }[],
  { max, maxCharacters }: { readonly max: number; readonly maxCharacters: number },
): { readonly catalogue: Catalogue; readonly inline: SkillSnapshot['inline'] } {
  const without = (names: ReadonlySet<string>, skills: number, characters: number) =>
    selectCatalogue(
      all.filter(({ name }) => !names.has(name)),
      { skills, characters },
    );
  const wanted = new Set(texts.map(({ skill }) => skill.name));
  const first = without(wanted, max, maxCharacters);
  let left = maxCharacters - first.text.length;
  const inline: { name: string; body: string }[] = [];
  for (const { skill, text } of texts) {
    if (text.kind === 'absent' || first.entries.length + inline.length >= max) continue;
    // The catalog does not say when to use it, because it is not listed there.
    const body = `${skill.description}\n\n${text.text}`;
    if (body.length > left) continue;
    left -= body.length;
    inline.push({ name: skill.name, body });
  }
  const shown = new Set(inline.map(({ name }) => name));
  if (shown.size === wanted.size) return { catalogue: first, inline };
  const room = first.text.length + left;
  return { catalogue: without(shown, max - inline.length, room), inline };
}

type DescribedSkill = Pick<CatalogueEntry, 'name' | 'description'>;

/** A skill in the catalog. */
export interface CatalogueEntry {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** The path of SKILL.md, ready to read. */
  readonly location: string;
}

/** The limits for skills in the prompt (S05). */
export interface CatalogueLimits {
  readonly skills: number;
  /** The size of the catalog together with the bodies. */
  readonly characters: number;
}

/** The catalog for one session. */
export interface Catalogue {
  readonly text: string;
  /** Its entries in order, with their descriptions as shown. */
  readonly entries: readonly CatalogueEntry[];
  /** How many skills the limits excluded. */
  readonly left: number;
}

/** An average; including the rules above the list, 20 skills stay below 2,000 tokens (S10). */
const ENTRY_TOKENS = 90;
/** Fewer skills than this share its budget, so that a few long descriptions are not truncated. */
const SHARED_BY = 20;
/**
 * A description is never truncated below this length, however long the name and path are. In
 * characters.
 */
const MIN_DESCRIPTION_LENGTH = 40;

/**
 * As many of the skills as fit, in order (S04, S05). Descriptions are complete if the budget allows
 * it; otherwise the longest are truncated to a common length, and skills are omitted only if that
 * length is the minimum.
 */
export function selectCatalogue(
  all: readonly CatalogueEntry[],
  { skills, characters }: CatalogueLimits,
): Catalogue {
  const most = Math.min(all.length, skills);
  const tokens = ENTRY_TOKENS * Math.max(most, SHARED_BY);
  const entriesAt = (length: number) =>
    all.slice(0, most).map((entry) => shortenDescription(entry, length));
  const longest = Math.max(
    MIN_DESCRIPTION_LENGTH,
    ...all.slice(0, most).map((entry) => entry.description.length),
  );
  const added = findLargestFitting(
    Math.min(longest, characters) - MIN_DESCRIPTION_LENGTH,
    (more) => {
      const text = renderCatalogue(entriesAt(MIN_DESCRIPTION_LENGTH + more));
      return text.length <= characters && estimateTokens(text) <= tokens;
    },
  );
  const candidates = entriesAt(MIN_DESCRIPTION_LENGTH + added);
  const fits = (count: number) => renderCatalogue(candidates.slice(0, count)).length <= characters;
  const entries = candidates.slice(0, findLargestFitting(most, fits));
  return { text: renderCatalogue(entries), entries, left: all.length - entries.length };
}

/**
 * Truncates its description to about `length` characters and adds a notice (P10), unless the notice
 * would be longer than the truncated text.
 */
function shortenDescription(entry: CatalogueEntry, length: number): CatalogueEntry {
  const { description } = entry;
  const total = description.length;
  if (total <= length + formatCutNotice(total, total).length) return entry;
  const shown = shortenAtClause(description, length);
  return { ...entry, description: shown + formatCutNotice(shown.length, total) };
}

function formatCutNotice(shown: number, total: number): string {
  return ` … [cut: ${shown} of ${total} characters]`;
}

/** A skill's line in the catalog. */
export function renderCatalogueEntry({ name, description, location }: CatalogueEntry): string {
  const parts = [
    `<name>${escapeXml(name)}</name>`,
    `<description>${escapeXml(description)}</description>`,
    `<location>${escapeXml(location)}</location>`,
  ];
  return `<skill>${parts.join('')}</skill>`;
}

function renderCatalogue(entries: readonly CatalogueEntry[]): string {
  if (entries.length === 0) return '';
  return ['<available_skills>', ...entries.map(renderCatalogueEntry), '</available_skills>'].join(
    '\n',
  );
}

/**
 * The largest number from 0 to `most` for which `fits` holds, found by bisection; `fits(0)` holds.
 */
export function findLargestFitting(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A folder that is, or should be, a skill; for people (S09). */
export interface SkillStatus {
  /** As its front matter says, or the folder's name if that is unknown. */
  readonly name: string;
  readonly source: SkillSource;
  readonly state: SkillState;
  /** Why it is in this state; null if it is ready. */
  readonly reason: string | null;
  /** The path of SKILL.md, with the home folder written as `~`. */
  readonly location: string;
  /** Empty if it is refused. */
  readonly description: string;
  readonly emoji: string | null;
  /** The author's steps to install its requirements; shown, never run (S08). */
  readonly install: readonly string[];
  readonly audience: Audience;
  /** Whether the model may use it on its own initiative. */
  readonly forModel: boolean;
  /** Its command without the slash; null if it has none. */
  readonly command: string | null;
  /** Why a skill that people may call has no command; null if there is nothing to report. */
  readonly commandProblem: string | null;
  /** Guesses made about its front matter, for people (S11). */
  readonly warnings: readonly string[];
  /** The estimated cost of its entry in the catalog, or of its body; 0 if it has none. */
  readonly tokens: number;
  /** Its form in the prompt (S06); null if it is absent. */
  readonly show: 'outline' | 'inline' | null;
  /**
   * The variable that holds its key, named as in OpenClaw's skills, and where the key comes from.
   */
  readonly primaryEnv: { readonly name: string; readonly from: KeySource } | null;
}

/** How a skill appears in the prompt. */
export interface ShownSkill {
  readonly show: 'outline' | 'inline';
  readonly text: string;
}

/** The state of a skill for people (S09). `shown` is its form in an owner's prompt. */
export function toSkillStatus(
  { found, skill, state, reason, audience, command, commandProblem, key }: ResolvedSkill,
  shown: ShownSkill | undefined,
  folders: readonly ShownFolder[],
): SkillStatus {
  const folder = join(found.root, ...found.segments);
  const location = toShownLocation(skill === null ? folder : join(folder, SKILL_FILE), folders);
  const forModel = skill !== null && !skill.disablemodelinvocation;
  const base = {
    name: cleanOneLine(skill?.name ?? getSkillFolderName(found)),
    source: found.source,
    location,
    description: skill?.description ?? '',
    emoji: skill?.emoji ?? null,
    install: skill?.install ?? [],
    audience,
    forModel,
    command,
    commandProblem,
    warnings: skill?.warnings ?? [],
    show: null,
    primaryEnv: skill?.primaryenv === undefined ? null : { name: skill.primaryenv, from: key },
  };
  if (state !== 'ready' || !forModel) return { ...base, state, reason, tokens: 0 };
  if (shown === undefined) {
    const full = 'the catalogue is full: skills.max or skills.maxCharacters';
    return { ...base, state: 'left-out', reason: full, tokens: 0 };
  }
  return { ...base, state, reason, show: shown.show, tokens: estimateTokens(shown.text) };
}

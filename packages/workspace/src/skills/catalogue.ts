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
import { cleanOneLine, escapeXml, type FolderAlias, toDisplayPath } from './skill-text.ts';

/**
 * The skills for one session, determined when the session begins and the same in each of its turns
 * (S07). The snapshot can be stored as JSON.
 */
export const SkillSnapshot = z.readonly(
  z.object({
    /** Changes whenever the snapshot's text would change. */
    version: z.string(),
    /** The XML `<available_skills>…</available_skills>`; empty if no skill is eligible. */
    catalogue: z.string(),
    /** Skill bodies that are part of the prompt (`inline`, S06). */
    inline: z.readonly(z.array(z.readonly(z.object({ name: z.string(), body: z.string() })))),
    /** The names that the model may use, in the order of the catalog. */
    names: z.readonly(z.array(z.string())),
    /** Environment variables that the skills need. */
    requiredEnv: z.readonly(z.array(z.string())),
    /** The names allowed by the settings; null allows all. */
    filter: z.readonly(z.array(z.string())).nullable(),
    /** The number of eligible skills excluded by the limits (S05). */
    left: z.int().nonnegative(),
    /** The strictest audience of the snapshot's sources. */
    audience: Audience,
  }),
);
export type SkillSnapshot = z.infer<typeof SkillSnapshot>;

/** The current text of a skill, without its front matter. */
export interface SkillText extends PromptPart {
  readonly kind: 'skill';
  readonly name: string;
}

/** Why there is no text; a skill that the reader may not see is treated as if it did not exist. */
export interface AbsentSkill {
  readonly kind: 'absent';
  readonly reason: 'unknown' | 'unreadable';
  /** The reason, for the model and for people. */
  readonly detail: string;
}

export interface SkillSnapshotInput {
  readonly catalogue: Catalogue;
  /** The skills in the catalog and those shown in full, in order of precedence. */
  readonly skills: readonly UsableSkill[];
  readonly inline: SkillSnapshot['inline'];
  readonly filter: readonly string[] | null;
}

/** Assembles a snapshot (S07), whose version is a hash of all of its contents. */
export function createSkillSnapshot({
  catalogue,
  skills,
  inline,
  filter,
}: SkillSnapshotInput): SkillSnapshot {
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
 * Divides skills into those that the prompt contains in full and those in the catalog. Bodies get
 * the space that the catalog leaves, in order; a skill whose body does not fit is listed in the
 * catalog.
 */
export function partitionSkills(
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
    // A skill shown in full is not in the catalog, so its description is repeated here.
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
  /** The description on a single line. */
  readonly description: string;
  /** The path of SKILL.md, ready to be read. */
  readonly location: string;
}

/** The limits for skills in the prompt (S05). */
export interface CatalogueLimits {
  readonly skills: number;
  /** The maximum size of the catalog together with the bodies. */
  readonly characters: number;
}

export interface Catalogue {
  readonly text: string;
  /** The entries in order, with their descriptions as shown. */
  readonly entries: readonly CatalogueEntry[];
  /** The number of skills excluded by the limits. */
  readonly left: number;
}

/**
 * The average tokens per entry; including the rules above the list, 20 skills stay below 2,000
 * tokens (S10).
 */
const ENTRY_TOKENS = 90;
/**
 * The budget is shared as if there were at least this many skills, so that a few long descriptions
 * are not truncated.
 */
const SHARED_BY = 20;
/**
 * The length, in characters, below which a description is never truncated, however long the name
 * and path are.
 */
const MIN_DESCRIPTION_LENGTH = 40;

/**
 * Selects as many skills as fit, in order (S04, S05). Descriptions are complete if the budget
 * allows it; otherwise the longest are truncated to a common length, and skills are omitted only if
 * that length is the minimum.
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
 * Truncates an entry's description to about `length` characters and adds a notice (P10), unless the
 * notice would be longer than the truncated text.
 */
function shortenDescription(entry: CatalogueEntry, length: number): CatalogueEntry {
  const { description } = entry;
  const total = description.length;
  if (total <= length + formatTruncationNotice(total, total).length) return entry;
  const shown = shortenAtClause(description, length);
  return { ...entry, description: shown + formatTruncationNotice(shown.length, total) };
}

function formatTruncationNotice(shown: number, total: number): string {
  return ` … [cut: ${shown} of ${total} characters]`;
}

/** Renders a skill's line in the catalog. */
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
 * Finds the largest number from 0 to `most` for which `fits` holds, by bisection; `fits(0)` must
 * hold.
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

/** A folder that is a skill, or should be one, as shown to people (S09). */
export interface SkillStatus {
  /** The name from the front matter, or the folder's name if that is unknown. */
  readonly name: string;
  readonly source: SkillSource;
  readonly state: SkillState;
  /** Why the skill is in this state; null if it is ready. */
  readonly reason: string | null;
  /** The path of SKILL.md, with the home folder written as `~`. */
  readonly location: string;
  /** Empty for a refused skill. */
  readonly description: string;
  readonly emoji: string | null;
  /**
   * The author's steps for installing the skill's requirements, which are shown but never run
   * (S08).
   */
  readonly install: readonly string[];
  readonly audience: Audience;
  /** Whether the model may use the skill on its own initiative. */
  readonly forModel: boolean;
  /** The skill's command without the slash; null if it has none. */
  readonly command: string | null;
  /** Why a skill that people may call does not have a command; null if there is no problem. */
  readonly commandProblem: string | null;
  /** Assumptions made about the skill's front matter, for people (S11). */
  readonly warnings: readonly string[];
  /** The estimated cost of the skill's catalog entry or body, in tokens; 0 if it has neither. */
  readonly tokens: number;
  /** How the skill appears in the prompt (S06); null if it does not. */
  readonly show: 'outline' | 'inline' | null;
  /** The variable for the skill's key, named as in OpenClaw's skills, and the source of the key. */
  readonly primaryEnv: { readonly name: string; readonly from: KeySource } | null;
}

/** How a skill appears in the prompt. */
export interface PromptSkill {
  readonly show: 'outline' | 'inline';
  readonly text: string;
}

/** Describes a skill's state for people (S09); `shown` is its form in an owner's prompt. */
export function toSkillStatus(
  { found, skill, state, reason, audience, command, commandProblem, key }: ResolvedSkill,
  shown: PromptSkill | undefined,
  folders: readonly FolderAlias[],
): SkillStatus {
  const folder = join(found.root, ...found.segments);
  const location = toDisplayPath(skill === null ? folder : join(folder, SKILL_FILE), folders);
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
    const full = 'the catalog is full: skills.max or skills.maxCharacters';
    return { ...base, state: 'left-out', reason: full, tokens: 0 };
  }
  return { ...base, state, reason, show: shown.show, tokens: estimateTokens(shown.text) };
}

import { join } from 'node:path';
import { type Clock, type Logger, silentLogger } from '@parley/contracts';
import type { SkillFacts } from './eligibility.ts';
import { findPrograms } from './find-programs.ts';
import { type ResolvedSkill, resolveSkills } from './resolve-skills.ts';
import { type FoundSkill, type HeaderCache, scanFolder } from './scan-folder.ts';
import type { SkillFolder } from './skill-folder.ts';

/** The settings of skills (`skills:` in parley.yaml). */
export interface SkillSettings {
  readonly allow?: readonly string[] | undefined;
  readonly block: readonly string[];
  readonly show: 'outline' | 'inline';
  /** Skills in the catalogue. */
  readonly max: number;
  /** Of the catalogue, and of bodies beside it. */
  readonly maxCharacters: number;
  readonly maxFileBytes: number;
}

/** What skills are opened with. */
export interface OpenSkillsOptions {
  /** The weakest first; `skillFolders` makes the list. */
  readonly folders: readonly SkillFolder[];
  readonly settings: SkillSettings;
  /** Asked whenever skills are looked at; programs are searched on its `PATH`. */
  readonly facts: () => Omit<SkillFacts, 'bins'>;
  /** Commands that no skill may take. */
  readonly reserved: readonly string[];
  /** Written `~`. */
  readonly home: string;
  readonly log?: Logger;
  readonly clock?: Clock;
}

/** What is remembered between two looks at the disk. */
export interface Memory {
  readonly cache: HeaderCache;
  /** Refusals that the log knows. */
  readonly told: Set<string>;
}

/** Entries after which a memory is emptied: many more than there are skills. */
const MOST_REMEMBERED = 20_000;

/** All skills with all decisions; reads only the files that have changed. */
export async function lookAtSkills(
  { folders, settings, facts, reserved, log = silentLogger, clock = Date.now }: OpenSkillsOptions,
  memory: Memory,
): Promise<readonly ResolvedSkill[]> {
  if (memory.cache.size > MOST_REMEMBERED) memory.cache.clear();
  const scan = { maxBytes: settings.maxFileBytes, cache: memory.cache, clock };
  const scanned = await Promise.all(folders.map((folder) => scanFolder(folder, scan)));
  const found = onceEach(scanned.flat());
  tellRefusals(found, memory, log);
  const wanted = found.flatMap(({ content }) =>
    content.kind === 'skill' ? [...content.requires.bins, ...content.requires.anybins] : [],
  );
  const now = facts();
  const bins = await findPrograms(wanted, now.env.PATH);
  const rules = { allow: settings.allow, block: settings.block, reserved };
  return resolveSkills(found, rules, { ...now, bins });
}

/** Two sources can be one folder, as when Parley is started at home: it counts as the stronger one. */
function onceEach(found: readonly FoundSkill[]): readonly FoundSkill[] {
  const byPath = new Map<string, FoundSkill>();
  for (const one of found) {
    const path = join(one.root, ...one.segments);
    byPath.delete(path);
    byPath.set(path, one);
  }
  return [...byPath.values()];
}

/** Each once: skills are looked at with every new session. */
function tellRefusals(found: readonly FoundSkill[], { told }: Memory, log: Logger): void {
  for (const { content, root, segments, source } of found) {
    if (content.kind !== 'refused') continue;
    const skill = join(root, ...segments);
    const line = `${skill}: ${content.reason}`;
    if (told.has(line) || told.size > MOST_REMEMBERED) continue;
    told.add(line);
    log.warn({ skill, source, reason: content.reason }, 'a skill was refused');
  }
}

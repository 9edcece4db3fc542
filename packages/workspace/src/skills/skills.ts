import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Logger, type Reader, silentLogger, systemTime } from '@parley/core';
import { SKILL_FILE } from '../audience.ts';
import { foldName } from '../folded-names.ts';
import {
  type AbsentSkill,
  type CatalogueEntry,
  createSkillSnapshot,
  type PromptSkill,
  partitionSkills,
  renderCatalogueEntry,
  type SkillSnapshot,
  type SkillStatus,
  type SkillText,
  toSkillStatus,
} from './catalogue.ts';
import {
  type FoundSkill,
  type HeaderCache,
  listSkillFiles,
  type SkillFolder,
  scanFolder,
} from './find-skills.ts';
import { readSkillText } from './read-skill.ts';
import {
  findPrograms,
  listUsableSkills,
  parseSkillCommand,
  type ResolvedSkill,
  resolveSkills,
  type SkillEnvironment,
  type UsableSkill,
} from './resolve-skills.ts';
import { cleanOneLine, type FolderAlias, toDisplayPath } from './skill-text.ts';

/** A skill that people call with a command (S08). */
export interface SkillCommand {
  /** The command without the slash: `a`–`z`, `0`–`9` and `_`, at most 32 characters. */
  readonly command: string;
  /** The skill that the command belongs to. */
  readonly name: string;
  /** The summary on a single line. */
  readonly summary: string;
}

/**
 * An installation's skills, read from disk on demand when their files have changed. Never throws.
 */
export type Skills = ReturnType<typeof openSkills>;

/** Opens an installation's skills without reading any files. */
export function openSkills(options: OpenSkillsOptions) {
  const { settings } = options;
  const memory: SkillScanState = { cache: new Map(), reported: new Set() };
  const shownAs = listFolderAliases(options);
  const scan = () => scanSkills(options, memory);
  const textOf = (skill: UsableSkill, reader: Reader, file?: string) =>
    readSkillText(skill, reader, file, {
      maxBytes: settings.maxFileBytes,
      shownFolder: toDisplayFolder(skill, reader, shownAs),
    });
  /**
   * Selects the skills from which a reader's model may choose: those that the prompt contains in
   * full, and the catalog of all others (S06).
   */
  const choose = async (all: readonly ResolvedSkill[], reader: Reader) => {
    const usable = sortAlwaysFirst(selectModelSkills(listUsableSkills(all, reader)));
    const wanted = usable.filter((one) => resolveSkillDisplayMode(one, settings) === 'inline');
    const texts = await Promise.all(
      wanted.map(async (one) => ({ skill: one.skill, text: await textOf(one, reader) })),
    );
    const entries = usable.map((one): CatalogueEntry => {
      const { name, description } = one.skill;
      return {
        name,
        description,
        location: `${toDisplayFolder(one, reader, shownAs)}/${SKILL_FILE}`,
      };
    });
    const { catalogue, inline } = partitionSkills(entries, texts, settings);
    const names = new Set([...catalogue.entries, ...inline].map(({ name }) => name));
    return { catalogue, inline, skills: usable.filter(({ skill }) => names.has(skill.name)) };
  };
  return {
    /** The workspace files that contain skills from any source. */
    reads: listSkillFiles(options.folders),
    /** Lists every skill found, including unused ones, by name. */
    async list(): Promise<readonly SkillStatus[]> {
      const all = await scan();
      const { catalogue, inline, skills } = await choose(all, OWNER);
      const costs = new Map<string, PromptSkill>([
        ...catalogue.entries.map(
          (one) => [one.name, { show: 'outline', text: renderCatalogueEntry(one) }] as const,
        ),
        ...inline.map((one) => [one.name, { show: 'inline', text: one.body }] as const),
      ]);
      const chosen = new Map(skills.map(({ found, skill }) => [found, costs.get(skill.name)]));
      const list = all.map((one) => toSkillStatus(one, chosen.get(one.found), shownAs));
      return list.sort((a, b) => (foldName(a.name) < foldName(b.name) ? -1 : 1));
    },
    /** Reads a skill's text for the owner, even if unused; null if refused or missing. */
    async show(name: string): Promise<SkillText | AbsentSkill | null> {
      const named = (await scan()).filter(
        ({ skill }) => skill !== null && foldName(skill.name) === foldName(name),
      );
      const one = named.find(({ state }) => state !== 'shadowed') ?? named[0];
      return one?.skill == null ? null : textOf({ ...one, skill: one.skill }, OWNER);
    },
    /** Creates the snapshot of skills with which a new session for this reader starts (S07). */
    async snapshot(reader: Reader): Promise<SkillSnapshot> {
      const chosen = await choose(await scan(), reader);
      return createSkillSnapshot({ ...chosen, filter: settings.allow ?? null });
    },
    /**
     * Reads the current text of a skill that the model may use, for `load_skill`. `file` is another
     * file in the skill's folder, such as `references/api.md` (S06).
     */
    async read(name: string, reader: Reader, file?: string): Promise<SkillText | AbsentSkill> {
      const known = selectModelSkills(listUsableSkills(await scan(), reader));
      const one = known.find(({ skill }) => foldName(skill.name) === foldName(name.trim()));
      return one === undefined ? createUnknownSkill(name, known) : textOf(one, reader, file);
    },
    /** Lists the commands that this reader may use, by name. */
    async userInvocable(reader: Reader): Promise<readonly SkillCommand[]> {
      const commands = listUsableSkills(await scan(), reader).flatMap(listCommands);
      return commands.sort((a, b) => (a.command < b.command ? -1 : 1));
    },
    /** Reads a skill that a typed command calls, even if the model does not see the skill. */
    async called(command: string, reader: Reader): Promise<SkillText | AbsentSkill> {
      const plain = parseSkillCommand(`/${command}`)?.command;
      const usable = listUsableSkills(await scan(), reader);
      const one = usable.find((skill) => skill.command !== null && skill.command === plain);
      return one === undefined ? createUnknownSkill(command, []) : textOf(one, reader);
    },
  };
}

/** The reader for lists shown to people, which contain all skills. */
const OWNER: Reader = { kind: 'owner', conversationId: '' };

/**
 * The setting for the skill takes precedence over its author's choice, which takes precedence over
 * the setting for all skills.
 */
function resolveSkillDisplayMode(
  { skill }: UsableSkill,
  settings: SkillSettings,
): 'outline' | 'inline' {
  return findSkillEntry(settings, skill.name).show ?? skill.show ?? settings.show;
}

function findSkillEntry({ entries = {} }: SkillSettings, name: string): SkillEntry {
  return Object.entries(entries).find(([key]) => foldName(key) === foldName(name))?.[1] ?? {};
}

/**
 * Returns a skill's folder as the model sees it; guests are not shown its location on the machine.
 */
function toDisplayFolder(
  { found }: UsableSkill,
  { kind }: Reader,
  folders: readonly FolderAlias[],
): string {
  const { source, root, segments } = found;
  if (kind === 'owner') return toDisplayPath(join(root, ...segments), folders);
  return cleanOneLine((source === 'workspace' ? segments : [source, ...segments]).join('/'));
}

function selectModelSkills(skills: readonly UsableSkill[]): readonly UsableSkill[] {
  return skills.filter(({ skill }) => !skill.disablemodelinvocation);
}

/** Sorts skills marked `always` first, so that the catalog's limits exclude them last. */
function sortAlwaysFirst(skills: readonly UsableSkill[]): readonly UsableSkill[] {
  const isAlways = ({ skill }: UsableSkill) => skill.always;
  return [...skills.filter(isAlways), ...skills.filter((one) => !isAlways(one))];
}

function listCommands({ command, skill }: UsableSkill): readonly SkillCommand[] {
  return command === null ? [] : [{ command, name: skill.name, summary: skill.description }];
}

function createUnknownSkill(name: string, there: readonly UsableSkill[]): AbsentSkill {
  const names = there.slice(0, 30).map(({ skill }) => skill.name);
  const hint = names.length === 0 ? '' : ` There are: ${names.join(', ')}.`;
  return {
    kind: 'absent',
    reason: 'unknown',
    detail: `There is no skill ${JSON.stringify(name.slice(0, 80))}.${hint}`,
  };
}

/** Lists the folders that are shown under another name. */
function listFolderAliases({ home, copy }: OpenSkillsOptions): readonly FolderAlias[] {
  const homes = listHomeFolders(home).map((folder) => ({ folder, shown: '~' }));
  if (copy === undefined) return homes;
  const shown = toDisplayPath(`${copy.of}/`, homes).replace(/\/$/, '');
  return [{ folder: copy.folder, shown }, ...homes];
}

/** Lists the home folder under both of its names, if one is a link. */
function listHomeFolders(home: string): readonly string[] {
  try {
    return [...new Set([home, realpathSync(home)])];
  } catch {
    return [home]; // A missing home folder does not contain another name.
  }
}

interface SkillEntry {
  readonly show?: 'outline' | 'inline' | undefined;
  readonly apiKey?: string | undefined;
}

/** The settings for skills (`skills:` in parley.yaml). */
export interface SkillSettings {
  readonly allow?: readonly string[] | undefined;
  readonly block: readonly string[];
  readonly show: 'outline' | 'inline';
  /** Settings for individual skills, by name. */
  readonly entries?: Readonly<Record<string, SkillEntry>>;
  /** The maximum number of skills in the catalog. */
  readonly max: number;
  /** The maximum size of the catalog together with the bodies. */
  readonly maxCharacters: number;
  readonly maxFileBytes: number;
}

export interface OpenSkillsOptions {
  /** The skill folders from the weakest to the strongest, as returned by `listSkillFolders`. */
  readonly folders: readonly SkillFolder[];
  readonly settings: SkillSettings;
  /**
   * Called for each scan to read information about the machine; programs are searched for on the
   * returned `PATH`.
   */
  readonly facts: () => Omit<SkillEnvironment, 'bins'>;
  /** Commands that skills may not take. */
  readonly reserved: readonly string[];
  /** The home folder, shown as `~`. */
  readonly home: string;
  /** The original folder, when skills are previewed on a copy of it. */
  readonly copy?: { readonly folder: string; readonly of: string } | undefined;
  readonly log?: Logger;
  readonly clock?: Clock;
}

/** The state kept between two scans. */
interface SkillScanState {
  readonly cache: HeaderCache;
  /** Refusals and assumptions that have already been logged. */
  readonly reported: Set<string>;
}

/** The maximum size of both collections, far above the number of skills. */
const MAX_REMEMBERED = 20_000;

/** Scans all skills and decides about them; reads only files that have changed. */
async function scanSkills(
  {
    folders,
    settings,
    facts,
    reserved,
    log = silentLogger,
    clock = systemTime.clock,
  }: OpenSkillsOptions,
  memory: SkillScanState,
): Promise<readonly ResolvedSkill[]> {
  if (memory.cache.size > MAX_REMEMBERED) memory.cache.clear();
  const scan = { maxBytes: settings.maxFileBytes, cache: memory.cache, clock };
  const scanned = await Promise.all(folders.map((folder) => scanFolder(folder, scan)));
  const found = removeDuplicateFolders(scanned.flat());
  logFoundSkills(found, memory, log);
  const wanted = found.flatMap(({ content }) =>
    content.kind === 'skill' ? [...content.requires.bins, ...content.requires.anybins] : [],
  );
  const now = facts();
  const bins = await findPrograms(wanted, now.env.PATH);
  const rules = {
    allow: settings.allow,
    block: settings.block,
    reserved,
    hasKey: (name: string) => findSkillEntry(settings, name).apiKey !== undefined,
  };
  return resolveSkills(found, rules, { ...now, bins });
}

/**
 * Two sources can be the same folder, for example if Parley is started in the home folder; the
 * folder then counts as the stronger source.
 */
function removeDuplicateFolders(found: readonly FoundSkill[]): readonly FoundSkill[] {
  const byPath = new Map<string, FoundSkill>();
  for (const one of found) {
    const path = join(one.root, ...one.segments);
    byPath.delete(path);
    byPath.set(path, one);
  }
  return [...byPath.values()];
}

/** Logs each refusal and assumption once, because skills are scanned with every new session. */
function logFoundSkills(
  found: readonly FoundSkill[],
  { reported }: SkillScanState,
  log: Logger,
): void {
  for (const { content, root, segments, source } of found) {
    const isRefused = content.kind === 'refused';
    const reason = isRefused ? content.reason : content.warnings.join('; ');
    const skill = join(root, ...segments);
    const line = `${skill}: ${reason}`;
    if (reason === '' || reported.has(line) || reported.size > MAX_REMEMBERED) continue;
    reported.add(line);
    log.warn(
      { skill, source, reason },
      isRefused
        ? 'a skill was refused'
        : 'a skill was read with assumptions about its front matter',
    );
  }
}

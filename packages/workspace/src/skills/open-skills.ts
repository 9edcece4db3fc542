import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '@parley/contracts';
import { type Catalogue, type CatalogueEntry, catalogueOf } from './catalogue.ts';
import { parseSkillCommand } from './command-name.ts';
import { lookAtSkills, type Memory, type OpenSkillsOptions } from './look-at-skills.ts';
import { makeSnapshot, textsThatFit } from './make-snapshot.ts';
import { readSkillText } from './read-skill-text.ts';
import { type ResolvedSkill, type UsableSkill, usableBy } from './resolve-skills.ts';
import { SKILL_FILE } from './scan-folder.ts';
import { skillReads } from './skill-folder.ts';
import { statusOf } from './skill-status.ts';
import { foldName, locationOf, oneLine } from './skill-text.ts';
import type { AbsentSkill, SkillCommand, Skills } from './skills.ts';

/** The skills that a reader's model may choose from. */
interface Chosen {
  readonly catalogue: Catalogue;
  /** Those in the catalogue, in its order. */
  readonly skills: readonly UsableSkill[];
}

/** Opens the skills of an installation. Looks at nothing yet. */
export function openSkills(options: OpenSkillsOptions): Skills {
  const { settings } = options;
  const memory: Memory = { cache: new Map(), told: new Set() };
  const homes = homesOf(options.home);
  const look = () => lookAtSkills(options, memory);
  const textOf = (skill: UsableSkill, reader: Reader, file?: string) =>
    readSkillText(skill, {
      reader,
      file,
      maxBytes: settings.maxFileBytes,
      shownFolder: shownPlace(skill, reader, homes),
    });
  return {
    reads: skillReads(options.folders),
    async list() {
      const all = await look();
      const { skills } = choose(all, OWNER, options, homes);
      const shown = new Set(skills.map(({ found }) => found));
      return all
        .map((one) => statusOf(one, shown.has(one.found), homes))
        .sort((a, b) => (foldName(a.name) < foldName(b.name) ? -1 : 1));
    },
    async snapshot(reader) {
      const { catalogue, skills } = choose(await look(), reader, options, homes);
      const shown = settings.show === 'inline' ? skills : [];
      const texts = await Promise.all(shown.map((skill) => textOf(skill, reader)));
      const inline = textsThatFit(texts, settings.maxCharacters - catalogue.text.length);
      return makeSnapshot({ catalogue, skills, inline, filter: settings.allow ?? null });
    },
    async read(name, reader, file) {
      const there = forModel(usableBy(await look(), reader));
      const one = there.find(({ skill }) => foldName(skill.name) === foldName(name.trim()));
      return one === undefined ? unknown(name, there) : textOf(one, reader, file);
    },
    async userInvocable(reader) {
      return usableBy(await look(), reader)
        .flatMap(commandOf)
        .sort(byCommand);
    },
    async called(command, reader) {
      const plain = parseSkillCommand(`/${command}`)?.command;
      const usable = usableBy(await look(), reader);
      const one = usable.find((skill) => skill.command !== null && skill.command === plain);
      return one === undefined ? unknown(command, []) : textOf(one, reader);
    },
  };
}

/** For whom people's lists are made: they show everything. */
const OWNER: Reader = { kind: 'owner', conversationId: '' };

function choose(
  all: readonly ResolvedSkill[],
  reader: Reader,
  { settings }: OpenSkillsOptions,
  homes: readonly string[],
): Chosen {
  const skills = forModel(usableBy(all, reader));
  const entries = skills.map((one): CatalogueEntry => {
    const { name, description } = one.skill;
    return { name, description, location: `${shownPlace(one, reader, homes)}/${SKILL_FILE}` };
  });
  const limits = { skills: settings.max, characters: settings.maxCharacters };
  const catalogue = catalogueOf(entries, limits);
  return { catalogue, skills: skills.slice(0, catalogue.entries.length) };
}

/** The folder of a skill as the model sees it: guests are not shown where on the machine it lies. */
function shownPlace({ found }: UsableSkill, { kind }: Reader, homes: readonly string[]): string {
  const { source, root, segments } = found;
  if (kind === 'owner') return locationOf(join(root, ...segments), homes);
  return oneLine((source === 'workspace' ? segments : [source, ...segments]).join('/'));
}

function forModel(skills: readonly UsableSkill[]): readonly UsableSkill[] {
  return skills.filter(({ skill }) => !skill.disablemodelinvocation);
}

function commandOf({ command, skill }: UsableSkill): readonly SkillCommand[] {
  return command === null ? [] : [{ command, name: skill.name, summary: skill.description }];
}

function byCommand(a: SkillCommand, b: SkillCommand): number {
  return a.command < b.command ? -1 : 1;
}

function unknown(name: string, there: readonly UsableSkill[]): AbsentSkill {
  const names = there.slice(0, 30).map(({ skill }) => skill.name);
  const hint = names.length === 0 ? '' : ` There are: ${names.join(', ')}.`;
  return {
    kind: 'absent',
    reason: 'unknown',
    detail: `There is no skill ${JSON.stringify(name.slice(0, 80))}.${hint}`,
  };
}

/** The home folder by both of its names, where one is a link. */
function homesOf(home: string): readonly string[] {
  try {
    return [...new Set([home, realpathSync(home)])];
  } catch {
    return [home]; // It does not exist, so nothing lies in it.
  }
}

import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  openSkills,
  openWorkspace,
  type Skills,
  skillFolders,
  type Workspace,
} from '@parley/workspace';
import { type Canary, type CanaryBook, canaryBook, type MeantFor } from './canaries.ts';
import type { Chance } from './chance.ts';
import { OWNER_FORMS, OWNER_LINES, PUBLIC_FORMS } from './front-matter-forms.ts';

/** A workspace in which every file holds words of its own, and what is known of them. */
export interface PrivateWorld {
  readonly workspace: Workspace;
  readonly skills: Skills;
  /** The names of its skills, and of one that does not exist. */
  readonly skillNames: readonly string[];
  readonly book: CanaryBook;
  /** The word of a file, to be looked for where it must be read; undefined if somebody wrote over it. */
  wordOf(name: string): Canary | undefined;
  /** Every path that was made, also links, but for the one whose very name is private. */
  readonly paths: readonly string[];
  /** Writes one of the files again, perhaps for other readers than before. */
  rewrite(): void;
  remove(): void;
}

/** 14:05 in Berlin; today and yesterday have daily notes. */
export const NOW = Date.UTC(2026, 10, 21, 13, 5);

/** Private whatever they say. */
const MEMORY_FILES = [
  'MEMORY.md',
  'memory/2026-11-21.md',
  'memory/2026-11-20.md',
  'memory/2026-11-01.md',
  'memory/people/ann.md',
  'memory/profile.md',
  // Other spellings of the same name, which some file systems take for it.
  'Memory.md',
  'ＭＥＭＯＲＹ.md',
  'docs/memory.MD',
  'Memory/upper.md',
];
/** For whom they are depends on what stands on top of them. */
const OTHER_FILES = [
  'AGENTS.md',
  'SOUL.md',
  'USER.md',
  'IDENTITY.md',
  'TOOLS.md',
  'HEARTBEAT.md',
  'BOOT.md',
  'BOOTSTRAP.md',
  'notes.md',
  'knowledge/garden.md',
  'knowledge/deep/roses.md',
  'formats/telegram.md',
  'personas/pirate.md',
  'skills/watering/references/plants.md',
];

/** Makes one. Which files are private, and how they say so, is up to chance. */
export async function makePrivateWorld(
  chance: Chance,
  conversations: readonly string[],
): Promise<PrivateWorld> {
  const base = mkdtempSync(join(tmpdir(), 'parley-privacy-'));
  const folder = join(base, 'workspace');
  const templates = join(base, 'templates');
  mkdirSync(templates);
  mkdirSync(folder);
  const book = canaryBook(chance);
  const workspace = await openWorkspace({ folder, templates });
  const words = new Map<string, Canary>();
  const put = (name: string, meantFor: MeantFor, top: string): void => {
    const canary = book.make(meantFor, name);
    const { word } = canary;
    words.set(name, canary);
    const first = name === 'IDENTITY.md' ? `- **Name:** ${word}\n` : '';
    write(folder, name, `${top}${word} stands in ${name}.\n\n${first}At its end, too: ${word}\n`);
  };
  const putOther = (name: string, isPrivate = chance.happens(0.5)): void =>
    isPrivate
      ? put(name, { kind: 'owner' }, chance.pick(OWNER_FORMS))
      : put(name, { kind: 'everyone' }, chance.pick(PUBLIC_FORMS));
  const putMemory = (name: string): void =>
    put(name, { kind: 'owner' }, chance.pick([...PUBLIC_FORMS, ...OWNER_FORMS]));

  const putGroup = (name: string): void => {
    const conversationId = groupFiles.get(name) ?? '';
    // Whatever such a file says of itself, it is one conversation's.
    put(name, { kind: 'group', conversationId }, chance.pick(PUBLIC_FORMS));
  };

  for (const name of MEMORY_FILES) putMemory(name);
  for (const name of OTHER_FILES) putOther(name);
  const groupFiles = new Map<string, string>();
  for (const conversationId of conversations) {
    const { groupMemory } = workspace.for({ kind: 'guest', conversationId });
    groupFiles.set(groupMemory, conversationId);
  }
  for (const name of groupFiles.keys()) putGroup(name);
  // A name can tell as much as a text.
  const secret = book.make({ kind: 'owner' }, 'the name of a private file');
  const secretName = `plans/${secret.word}.md`;
  put(secretName, { kind: 'owner' }, '---\naudience: owner\n---\n');
  for (const [skill, place] of SKILLS) {
    const isPrivate = chance.happens(0.5);
    const name = `${place}/${skill}/SKILL.md`;
    const { word } = book.make({ kind: isPrivate ? 'owner' : 'everyone' }, name);
    const line = isPrivate ? chance.pick(OWNER_LINES) : '';
    write(
      base,
      name,
      `---\nname: ${skill}\ndescription: Does ${word}.\n${line}\n---\nDo ${word}.\n`,
    );
  }
  const links = makeLinks(folder);
  return {
    workspace,
    skills: skillsOf(base, folder),
    skillNames: [...SKILLS.keys(), 'nothing'],
    book,
    wordOf(name) {
      const canary = words.get(name);
      if (canary === undefined) return undefined;
      return readFileSync(join(folder, name), 'utf8').includes(canary.word) ? canary : undefined;
    },
    paths: [...words.keys(), ...links].filter((name) => name !== secretName),
    rewrite() {
      const name = chance.pick([...MEMORY_FILES, ...OTHER_FILES, ...groupFiles.keys()]);
      if (groupFiles.has(name)) putGroup(name);
      else if (MEMORY_FILES.includes(name)) putMemory(name);
      else putOther(name);
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** By name, the folder each lies in. */
const SKILLS: ReadonlyMap<string, string> = new Map([
  ['watering', 'workspace/skills'],
  ['banking', 'workspace/skills'],
  ['diary', 'workspace/skills/private'],
  ['cooking', 'home/.agents/skills'],
  ['letters', 'data/skills'],
]);

function skillsOf(base: string, workspace: string): Skills {
  const nowhere = join(base, 'nowhere');
  const places = { extra: [], bundled: nowhere, project: nowhere, workspace };
  const home = join(base, 'home');
  return openSkills({
    folders: skillFolders({ ...places, data: join(base, 'data'), home }),
    settings: { block: [], show: 'inline', max: 150, maxCharacters: 30_000, maxFileBytes: 256_000 },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home,
  });
}

function write(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Other ways to the private files, by their own names. */
function makeLinks(folder: string): readonly string[] {
  symlinkSync('MEMORY.md', join(folder, 'public.md'));
  symlinkSync(join(folder, 'MEMORY.md'), join(folder, 'absolute.md'));
  symlinkSync('memory', join(folder, 'shared'));
  symlinkSync('..', join(folder, 'knowledge', 'up'));
  linkSync(join(folder, 'memory/profile.md'), join(folder, 'twin.md'));
  return [
    'public.md',
    'absolute.md',
    'shared/2026-11-21.md',
    'shared/profile.md',
    'knowledge/up/MEMORY.md',
    'twin.md',
  ];
}

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace, type Skills, type Workspace } from '@parley/workspace';
import type { Canary, CanaryBook, IntendedAudience } from './canaries.ts';
import type { RandomChance } from './chance.ts';
import { OWNER_FORMS, OWNER_LINES, PUBLIC_FORMS } from './front-matter-forms.ts';
import { MADE } from './hostile-paths.ts';
import {
  createSkills,
  MEMORY_FILES,
  makeLinks,
  OTHER_FILES,
  SKILLS,
  writeWorldFile,
} from './world-files.ts';

/** A workspace in which every file contains unique words, with a record of who may see them. */
export interface PrivateWorld {
  readonly workspace: Workspace;
  readonly skills: Skills;
  /** The names of the world's skills, and of one that does not exist. */
  readonly skillNames: readonly string[];
  readonly book: CanaryBook;
  /**
   * The word of a file, to be looked for where it must be read; undefined if the file was
   * overwritten.
   */
  wordOf(name: string): Canary | undefined;
  /**
   * Every path that was created, including links, except for the one whose very name is private.
   */
  readonly paths: readonly string[];
  /** Rewrites one of the files, perhaps for another audience. */
  rewrite(): void;
  /** The number of files that contain a copied private word. */
  laundered(): number;
  remove(): void;
}

/** 14:05 in Berlin; today and yesterday have daily notes. */
export const NOW = Date.UTC(2026, 10, 21, 13, 5);

const OWNER: IntendedAudience = { kind: 'owner' };

/** Writes the files of a world, each with a unique word. */
interface WorldAuthor {
  /** The last written word of each file. */
  readonly words: ReadonlyMap<string, Canary>;
  memory(name: string): void;
  /** A file that is private or not, at random. */
  other(name: string): void;
  /** Belongs to one conversation, whatever the file says about itself. */
  group(name: string, conversationId: string): void;
  /** A file whose very name is private. */
  secret(): string;
}

function createAuthor(folder: string, book: CanaryBook, chance: RandomChance): WorldAuthor {
  const words = new Map<string, Canary>();
  const put = (name: string, meantFor: IntendedAudience, forms: readonly string[]): void => {
    const canary = book.make(meantFor, name);
    const { word } = canary;
    words.set(name, canary);
    const first = name === 'IDENTITY.md' ? `- **Name:** ${word}\n` : '';
    const text = `${word} stands in ${name}.\n\n${first}At its end, too: ${word}\n`;
    writeWorldFile(folder, name, `${chance.pick(forms)}${text}`);
  };
  return {
    words,
    memory: (name) => put(name, OWNER, chance.happens(0.5) ? PUBLIC_FORMS : OWNER_FORMS),
    other: (name) =>
      chance.happens(0.5)
        ? put(name, OWNER, OWNER_FORMS)
        : put(name, { kind: 'everyone' }, PUBLIC_FORMS),
    group: (name, conversationId) => put(name, { kind: 'group', conversationId }, PUBLIC_FORMS),
    secret() {
      const { word } = book.make(OWNER, 'the name of a private file');
      const name = `plans/${word}.md`;
      put(name, OWNER, OWNER_FORMS.slice(0, 1));
      return name;
    },
  };
}

/** An additional file of each skill. */
const MORE = 'references/more.md';
/** Includes paths of skills that are elsewhere, where no such file exists. */
const FURTHER = [...SKILLS.keys()].flatMap((skill) => [
  MORE,
  `skills/${skill}/${MORE}`,
  `skills/private/${skill}/${MORE}`,
]);

/** Creates a world. Which files are private, and how they say so, is random. */
export async function makePrivateWorld(
  chance: RandomChance,
  conversations: readonly string[],
  book: CanaryBook,
): Promise<PrivateWorld> {
  const base = mkdtempSync(join(tmpdir(), 'parley-privacy-'));
  const folder = join(base, 'workspace');
  const templates = join(base, 'templates');
  mkdirSync(templates);
  const workspace = await openWorkspace({ folder, templates });
  const author = createAuthor(folder, book, chance);
  for (const name of MEMORY_FILES) author.memory(name);
  for (const name of OTHER_FILES) author.other(name);
  const groups = listGroupFiles(workspace, conversations);
  for (const [name, conversationId] of groups) author.group(name, conversationId);
  const skillNames = writeSkills(base, book, chance);
  const secret = author.secret();
  const links = makeLinks(folder);
  return {
    workspace,
    skills: createSkills(base),
    skillNames,
    book,
    wordOf(name) {
      const canary = author.words.get(name);
      if (canary === undefined) return undefined;
      return readFileSync(join(folder, name), 'utf8').includes(canary.word) ? canary : undefined;
    },
    paths: [...author.words.keys(), ...links, ...FURTHER].filter((name) => name !== secret),
    rewrite() {
      const name = chance.pick([...MEMORY_FILES, ...OTHER_FILES, ...groups.keys()]);
      const conversationId = groups.get(name);
      if (conversationId !== undefined) author.group(name, conversationId);
      else if (MEMORY_FILES.includes(name)) author.memory(name);
      else author.other(name);
    },
    laundered() {
      const copied = [...author.words.keys(), ...MADE].filter((name) => {
        const path = join(folder, name);
        return existsSync(path) && readFileSync(path, 'utf8').includes(' was here. At its end');
      });
      return copied.length;
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** The memory file of each conversation, and its audience. */
function listGroupFiles(
  workspace: Workspace,
  conversations: readonly string[],
): ReadonlyMap<string, string> {
  return new Map(
    conversations.map((conversationId) => [
      workspace.for({ kind: 'guest', conversationId }).groupMemory,
      conversationId,
    ]),
  );
}

/** Returns the names that may be tried; for private skills, only names that reveal nothing. */
function writeSkills(base: string, book: CanaryBook, chance: RandomChance): readonly string[] {
  const names = [...SKILLS].map(([skill, place]) => {
    const isPrivate = chance.happens(0.5);
    const path = `${place}/${skill}/SKILL.md`;
    const meantFor: IntendedAudience = isPrivate ? OWNER : { kind: 'everyone' };
    const { word } = book.make(meantFor, path);
    // The file itself does not state its audience.
    const more = book.make(meantFor, `${place}/${skill}/${MORE}`);
    writeWorldFile(base, more.where, `More of it: ${more.word}.\n`);
    const isTelling = chance.happens(0.5);
    const name = isTelling ? `${skill}-${word}` : skill;
    const line = isPrivate ? chance.pick(OWNER_LINES) : '';
    const head = `---\nname: ${name}\ndescription: Does ${word}.\n${line}\n---\n`;
    writeWorldFile(base, path, `${head}Do ${word}.\n`);
    return isPrivate && isTelling ? skill : name;
  });
  return [...names, 'nothing'];
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Reader } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import type { SkillStatus } from '../catalogue.ts';
import { listSkillFolders, type SkillSource } from '../find-skills.ts';
import { type OpenSkillsOptions, openSkills, type SkillSettings, type Skills } from '../skills.ts';

/** The owner in a direct chat, and a guest in another chat. */
export const OWNER: Reader = { kind: 'owner', conversationId: 'c1' };
export const GUEST: Reader = { kind: 'guest', conversationId: 'c2' };

const SETTINGS: SkillSettings = {
  block: [],
  show: 'outline',
  max: 150,
  maxCharacters: 30_000,
  maxFileBytes: 256_000,
};

/** The six skill sources in a temporary folder. */
export interface SkillsScene {
  readonly base: string;
  readonly lines: readonly string[];
  /** Returns the folder of a source. */
  folderOf(source: SkillSource): string;
  /** Writes `<source>/<folder>/SKILL.md` and returns its path. */
  write(source: SkillSource, folder: string, text: string | Uint8Array): Promise<string>;
  open(settings?: Partial<SkillSettings>, change?: Partial<OpenSkillsOptions>): Skills;
  /** Reads the status of one skill, with default settings unless others are given. */
  status(name: string, settings?: Partial<SkillSettings>): Promise<SkillStatus | undefined>;
  remove(): Promise<void>;
}

/** Creates a SKILL.md with this front matter in addition to name and description. */
export function createSkillText(name: string, more = '', body = `How to ${name}.`): string {
  return `---\nname: ${name}\ndescription: When ${name} is wanted.\n${more}---\n${body}\n`;
}

/** Creates the six sources, all empty. */
export async function openSkillsScene(): Promise<SkillsScene> {
  const base = await mkdtemp(join(tmpdir(), 'parley-skills-'));
  const { log, lines } = createRecordingLogger();
  const home = join(base, 'home');
  const places = {
    extra: [join(base, 'extra')],
    bundled: join(base, 'bundled'),
    data: join(base, 'data'),
    home,
    project: join(base, 'project'),
    workspace: join(base, 'workspace'),
  };
  const folders = listSkillFolders(places);
  await mkdir(home);
  const folderOf = (source: SkillSource) => {
    const folder = folders.find((one) => one.source === source);
    if (folder === undefined) throw new Error(`There is no source ${source}.`);
    return join(folder.root, ...folder.within);
  };
  const open: SkillsScene['open'] = (settings = {}, change = {}) =>
    openSkills({
      folders,
      settings: { ...SETTINGS, ...settings },
      facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
      reserved: ['help', 'stop'],
      home,
      log,
      ...change,
    });
  return {
    base,
    lines,
    folderOf,
    open,
    async write(source, folder, text) {
      const path = join(folderOf(source), folder, 'SKILL.md');
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
    async status(name, settings) {
      return (await open(settings).list()).find((one) => one.name === name);
    },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

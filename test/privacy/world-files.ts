import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listSkillFolders, openSkills, type Skills } from '@parley/workspace';

/** Files that are private regardless of their header. */
export const MEMORY_FILES: readonly string[] = [
  'MEMORY.md',
  'memory/2026-11-21.md',
  'memory/2026-11-20.md',
  'memory/2026-11-01.md',
  'memory/people/ann.md',
  'memory/profile.md',
  // Other spellings of the same name, which some file systems treat as equal.
  'Memory.md',
  'ＭＥＭＯＲＹ.md',
  'docs/memory.MD',
  'Memory/upper.md',
];
/** Files whose header determines their audience. */
export const OTHER_FILES: readonly string[] = [
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
  'output-formats/loud.md',
];

/** The folder of each skill, by name. */
export const SKILLS: ReadonlyMap<string, string> = new Map([
  ['watering', 'workspace/skills'],
  ['banking', 'workspace/skills'],
  ['diary', 'workspace/skills/private'],
  ['cooking', 'home/.agents/skills'],
  ['letters', 'data/skills'],
]);

/** The skills of a world whose workspace is at `base`. */
export function createSkills(base: string): Skills {
  const workspace = join(base, 'workspace');
  const nowhere = join(base, 'nowhere');
  const places = { extra: [], bundled: nowhere, project: nowhere, workspace };
  const home = join(base, 'home');
  return openSkills({
    folders: listSkillFolders({ ...places, data: join(base, 'data'), home }),
    settings: { block: [], show: 'inline', max: 150, maxCharacters: 30_000, maxFileBytes: 256_000 },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home,
  });
}

/** Writes a file, and creates its folders. */
export function writeWorldFile(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Links to the private files under other names. */
export function makeLinks(folder: string): readonly string[] {
  symlinkSync('MEMORY.md', join(folder, 'public.md'));
  symlinkSync(join(folder, 'MEMORY.md'), join(folder, 'absolute.md'));
  symlinkSync('memory', join(folder, 'shared'));
  symlinkSync('..', join(folder, 'knowledge', 'up'));
  linkSync(join(folder, 'memory/profile.md'), join(folder, 'twin.md'));
  return [
    'public.md',
    'absolute.md',
    'shared/2026-11-21.md',
    'shared/2026-11-20.md',
    'shared/people/ann.md',
    'shared/profile.md',
    'knowledge/up/MEMORY.md',
    'twin.md',
  ];
}

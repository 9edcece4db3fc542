import { join } from 'node:path';
import { type FilePattern, patternsInside } from '../prompt-files.ts';
import type { SkillSource } from './skills.ts';

/** A folder that may hold skills. */
export interface SkillFolder {
  readonly source: SkillSource;
  /** May itself be a symbolic link; need not exist. */
  readonly root: string;
  /** Where in it the skills are; no step of that may be a link. */
  readonly within: readonly string[];
}

/** Where an installation keeps its skills. All paths are absolute. */
export interface SkillPlaces {
  /** From the settings and plugins; later ones win. */
  readonly extra: readonly string[];
  /** What Parley brings. */
  readonly bundled: string;
  /** The data folder. */
  readonly data: string;
  readonly home: string;
  /** Where Parley was started. */
  readonly project: string;
  readonly workspace: string;
}

/** The six sources, the weakest first (S02). */
export function skillFolders(places: SkillPlaces): readonly SkillFolder[] {
  const agents = ['.agents', 'skills'];
  return [
    ...places.extra.map((root): SkillFolder => ({ source: 'extra', root, within: [] })),
    { source: 'bundled', root: places.bundled, within: [] },
    { source: 'managed', root: join(places.data, 'skills'), within: [] },
    { source: 'personal', root: join(places.home, ...agents), within: [] },
    { source: 'project', root: join(places.project, ...agents), within: [] },
    { source: 'workspace', root: places.workspace, within: ['skills'] },
  ];
}

/**
 * The workspace files in which skills lie: `skills/`, the folders of other sources that are inside the
 * workspace, and SKILL.md anywhere, since a source may also be around it.
 */
export function skillReads(folders: readonly SkillFolder[]): readonly FilePattern[] {
  const workspace = folders.find(({ source }) => source === 'workspace');
  const paths = folders.map(({ root, within }) => `${join(root, ...within)}/`);
  return [...(workspace === undefined ? [] : patternsInside(workspace.root, paths)), 'SKILL.md'];
}

import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Logger } from '@parley/core';
import { foldSegments } from './folded-names.ts';
import { SOUL } from './soul.ts';
import type { AbsentFile, WorkspaceView } from './workspace-view.ts';

/**
 * Workspace files that become prompt text: either one path (`AGENTS.md`), or a folder with
 * everything below it (`knowledge/`; `/` stands for every file). Patterns are relative to the
 * workspace.
 */
export type FilePattern = string;

/** A part of a prompt (layer, context source, hook) with the files that it reads. */
export interface DeclaredReads {
  readonly id: string;
  /** The part can read only these files, and none if this is absent. */
  readonly reads?: readonly FilePattern[];
}

/**
 * Restricts a view to the files that `part` declares. Any other file looks absent and is logged,
 * because the agent could change an undeclared file without asking. The view's methods do not use
 * `this`, because plugins detach them or copy the view.
 */
export function restrictView(
  view: WorkspaceView,
  { id, reads = [] }: DeclaredReads,
  log: Logger,
): WorkspaceView {
  const declares = (name: string) => reads.some((pattern) => matchesFilePattern(pattern, name));
  const allows = (name: string): boolean => {
    if (declares(name)) return true;
    log.error({ part: id, file: name }, 'read of a workspace file that is not in its `reads`');
    return false;
  };
  return {
    reader: view.reader,
    groupMemory: view.groupMemory,
    read: (name, limit) => (allows(name) ? view.read(name, limit) : Promise.resolve(UNDECLARED)),
    readBytes: (name, limit) =>
      allows(name) ? view.readBytes(name, limit) : Promise.resolve(UNDECLARED),
    list: async () => (await view.list()).filter(({ name }) => declares(name)),
    write: async (name, text) => (allows(name) ? view.write(name, text) : NOT_WRITTEN),
    change: async (name, change) => (allows(name) ? view.change(name, change) : NOT_WRITTEN),
    plan: async (name, change) => (allows(name) ? view.plan(name, change) : NOT_WRITTEN),
  };
}

const NOT_DECLARED = { reason: 'refused', detail: 'the file is not declared' } as const;
const UNDECLARED: AbsentFile = { kind: 'absent', ...NOT_DECLARED };
const NOT_WRITTEN = { kind: 'refused', reason: 'protected', detail: NOT_DECLARED.detail } as const;

/** Whether a pattern declares a file, exactly as written; other spellings are never read. */
export function matchesFilePattern(pattern: FilePattern, name: string): boolean {
  if (pattern === '/') return true;
  return pattern.endsWith('/') ? name.startsWith(pattern) : name === pattern;
}

/** One agent's files that become prompt text: everything that the registered parts declare. */
export interface PromptFiles {
  /** The patterns without duplicates: files first, then folders. */
  readonly patterns: readonly FilePattern[];
  /**
   * Whether a path may lead to one of these files. Case, Unicode forms, invisible characters,
   * slashes, relative steps and full paths make no difference; returns true when in doubt.
   */
  includes(path: string): boolean;
}

/** Joins the declarations of all parts, without SOUL.md, which no tool can write (W06). */
export function createPromptFiles(declared: Iterable<FilePattern>): PromptFiles {
  const all = [...new Set(declared)].filter((pattern) => pattern !== SOUL).toSorted();
  const patterns = [
    ...all.filter((pattern) => !pattern.endsWith('/')),
    ...all.filter((pattern) => pattern.endsWith('/')),
  ];
  const wanted = patterns.map((pattern) => foldSegments(pattern));
  return {
    patterns,
    includes(path) {
      const written = foldSegments(path);
      const paths = [written.filter((segment) => segment !== '..'), resolveSegments(written)];
      return wanted.some((run) => paths.some((segments) => includesSubsequence(segments, run)));
    },
  };
}

/**
 * Selects those `paths` that are inside a workspace, as patterns; a folder has a trailing slash.
 * All paths are absolute, may be links, and need not exist.
 */
export function toWorkspacePatterns(workspace: string, paths: readonly string[]): FilePattern[] {
  const roots = [workspace, resolveRealPath(workspace)];
  return paths.flatMap((path) => {
    const ending = path.endsWith('/') ? '/' : '';
    const found = roots.flatMap((root) =>
      [path, resolveRealPath(path)].map((one) => relative(root, one)),
    );
    return found.filter((one) => !/^\.\.(\/|$)/.test(one)).map((one) => `${one}${ending}`);
  });
}

/** Resolves links in a path, even if its last segments do not exist yet. */
function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolveRealPath(parent), basename(path));
  }
}

function resolveSegments(segments: readonly string[]): readonly string[] {
  const path: string[] = [];
  for (const segment of segments) {
    if (segment === '..') path.pop();
    else path.push(segment);
  }
  return path;
}

function includesSubsequence(segments: readonly string[], run: readonly string[]): boolean {
  return segments.some((_, at) => run.every((part, nth) => segments[at + nth] === part));
}

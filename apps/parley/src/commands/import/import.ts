import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { countOf } from '@parley/core';
import { copyIntoWorkspace, markedCopy, surveyFolder } from '@parley/workspace';
import type { Cli } from '../../cli.ts';
import { CliError, WORKSPACE_TEMPLATES } from '../../data-folder.ts';
import { newId } from '../../process-options.ts';
import { readSettings } from '../../settings.ts';
import { type Existing, isMarkedInCopy, planImport, planText } from './import-plan.ts';

/**
 * `parley import openclaw FOLDER`: says what of an OpenClaw workspace is used and as what; with `yes`
 * copies it into the workspace, over nothing. The original is only read. 0 unless a copy failed.
 */
export async function importOpenClaw(
  { folder, env, print }: Cli,
  path: string,
  yes = false,
): Promise<number> {
  const { folder: from, beside } = findWorkspace(path);
  const { workspace } = readSettings(folder, env).settings.agent;
  assertApart(from, workspace);
  const survey = await surveyFolder(from, Date.now);
  const plan = planImport(survey, beside, (name) => existingIn(survey.folder, workspace, name));
  print(`The OpenClaw workspace ${from}\n\n${planText(plan)}`);
  if (yes) return copyAll(plan, survey.folder, workspace, print);
  print(
    `Nothing has been copied. To copy it into ${workspace}, say it again with --yes.\nTo use it where it is, write this into ${folder.settingsFile}:\n  agent:\n    workspace: ${JSON.stringify(from)}\nThere nothing is marked: others can read USER.md until its front matter says "audience: owner".`,
  );
  return 0;
}

async function copyAll(
  plan: ReturnType<typeof planImport>,
  from: string,
  to: string,
  print: Cli['print'],
): Promise<number> {
  let copied = 0;
  let failed = 0;
  for (const { name, isMarked } of plan.used.filter(({ existing }) => existing === 'nothing')) {
    const result = await copyIntoWorkspace({ from, to, name, isMarked }, newId);
    if (result.kind === 'copied') copied += 1;
    if (result.kind === 'exists') print(`  ${name} is there already and stays as it is`);
    if (result.kind === 'failed') failed += 1;
    if (result.kind === 'failed') print(`  ${name} could not be copied: ${result.reason}`);
  }
  print(`Copied into ${to}: ${countOf(copied, 'file')}. The original is as it was.`);
  return failed === 0 ? 0 : 1;
}

/** Throws CliError `import-same` when one folder is the other, or lies in it. */
function assertApart(from: string, workspace: string): void {
  const [a, b] = [realOr(from), realOr(workspace)].map((path) => path + sep);
  if (a === undefined || b === undefined || !(a.startsWith(b) || b.startsWith(a))) return;
  throw new CliError(
    'import-same',
    `${from} is (a part of) the workspace that Parley uses already, ${workspace}: there is nothing to import.`,
  );
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // A workspace that is yet to be made.
  }
}

function existingIn(from: string, workspace: string, name: string): Existing {
  const path = join(workspace, name);
  const stats = lookAt(path);
  if (stats === undefined) return 'nothing';
  // Whatever else it is, a link or a pipe: it is not read, and it stays.
  if (!stats.isFile()) return 'something';
  if (isCopy(path, join(from, name), name)) return 'the-same';
  return isSame(path, join(WORKSPACE_TEMPLATES, name)) ? 'a-template' : 'something';
}

/** Undefined where nothing is, and where a file is in the place of a folder: copying reports that. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** As it is, or as the import marks it. */
function isCopy(path: string, original: string, name: string): boolean {
  if (isSame(path, original)) return true;
  return isMarkedInCopy(name) && readFileSync(path).equals(markedCopy(readFileSync(original)));
}

function isSame(path: string, other: string): boolean {
  return existsSync(other) && readFileSync(path).equals(readFileSync(other));
}

const MARKS = ['AGENTS.md', 'SOUL.md'];

/**
 * The workspace that a person means: the folder itself, or the one inside a state folder such as
 * `~/.openclaw`; then `beside` is what lies beside it. Throws CliError `import-folder`.
 */
function findWorkspace(path: string): { folder: string; beside: readonly string[] } {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new CliError('import-folder', `There is no folder ${folder}. Check the path.`);
  }
  if (isWorkspace(folder)) return { folder, beside: [] };
  const inside = join(folder, 'workspace');
  if (isWorkspace(inside)) {
    const beside = readdirSync(folder).filter((name) => name !== 'workspace');
    return { folder: inside, beside: beside.sort() };
  }
  throw new CliError(
    'import-folder',
    `${folder} is no workspace of OpenClaw: it holds neither ${MARKS.join(' nor ')}. By default the workspace is ~/.openclaw/workspace.`,
  );
}

function isWorkspace(folder: string): boolean {
  return MARKS.some((mark) => existsSync(join(folder, mark)));
}

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
import { newId, pluralize, systemTime } from '@parley/core';
import { previewTasks } from '@parley/proactive';
import {
  type CopyResult,
  copyIntoWorkspace,
  openFolderReader,
  surveyFolder,
  writeIntoWorkspace,
} from '@parley/workspace';
import type { CliContext } from '../../cli.ts';
import { CliError, WORKSPACE_TEMPLATES } from '../../data-folder.ts';
import { findChosenAgent, readSettings } from '../../settings.ts';
import { createImportEdits, type ImportEdits, OWNERS_NOTES } from './import-edits.ts';
import { type ExistingFile, formatPlan, planImport } from './import-plan.ts';

/**
 * Agent programs whose workspaces can be imported. The workspaces of both programs contain the same
 * files.
 */
const AGENTS = {
  openclaw: {
    name: 'OpenClaw',
    usual: 'By default, the OpenClaw workspace is ~/.openclaw/workspace.',
  },
  neomagi: {
    name: 'NeoMAGI',
    usual: 'The NeoMAGI workspace is the "workspace" folder in NeoMAGI’s code folder.',
  },
} as const;

type OtherAgent = keyof typeof AGENTS;

/**
 * `parley import openclaw|neomagi FOLDER`: shows which workspace files can be imported and what
 * they are for. With `yes`, copies the files into the workspace without overwriting existing files.
 * The original folder stays unchanged. The exit code is 0 unless a copy failed.
 */
export async function importWorkspace(
  { folder, env, print, agent: into }: CliContext,
  agent: OtherAgent,
  path: string,
  yes = false,
): Promise<number> {
  const { folder: from, beside } = findWorkspace(path, agent);
  const { name, settings } = findChosenAgent(readSettings(folder, env), into);
  const { workspace } = settings.agent;
  assertSeparateFolders(from, workspace);
  const survey = await surveyFolder(from, systemTime.clock);
  const edits = await createImportEdits(survey);
  const existing = (name: string) => classifyExistingFile(survey.folder, workspace, name, edits);
  const plan = planImport(survey, beside, existing, edits.split);
  print(
    `The ${AGENTS[agent].name} workspace ${from}\n\n${formatPlan(plan, await readImportedHeartbeat(plan, survey.folder, settings.agent))}`,
  );
  if (yes) return copyPlannedFiles(plan, { from: survey.folder, to: workspace, edits, print });
  print(
    `Nothing has been copied. To copy it into ${workspace}, run this again with --yes.\nTo use it where it is, write this into ${folder.settingsFile}:\n${formatWorkspaceSettings(name, from)}\nIn that case, Parley does not mark or change any file. Others can read USER.md until its front matter says "audience: owner", and they can read what other files say about you.`,
  );
  return 0;
}

/** Formats the settings that make a folder an agent's workspace. */
function formatWorkspaceSettings(name: string | undefined, folder: string): string {
  const place = JSON.stringify(folder);
  if (name === undefined) return `  agent:\n    workspace: ${place}`;
  return `  agents:\n    ${name}:\n      workspace: ${place}`;
}

/**
 * Describes the tasks in the imported HEARTBEAT.md; null if the file is not imported. The tasks run
 * both if the file is copied and if it is used in place.
 */
async function readImportedHeartbeat(
  { used }: ReturnType<typeof planImport>,
  from: string,
  settings: Parameters<typeof previewTasks>[1],
) {
  if (!used.some(({ name }) => name === 'HEARTBEAT.md')) return null;
  return previewTasks(await openFolderReader(from, systemTime.clock), settings);
}

interface CopyContext {
  readonly from: string;
  readonly to: string;
  readonly edits: ImportEdits;
  readonly print: CliContext['print'];
}

async function copyPlannedFiles(
  plan: ReturnType<typeof planImport>,
  { from, to, edits, print }: CopyContext,
): Promise<number> {
  const counts = { copied: 0, exists: 0, failed: 0 };
  const note = (name: string, result: CopyResult) => {
    counts[result.kind] += 1;
    if (result.kind === 'exists') print(`  ${name} already exists and was not changed`);
    if (result.kind === 'failed') print(`  ${name} could not be copied: ${result.reason}`);
  };
  const fresh = plan.used.filter(({ existing }) => existing === 'nothing');
  for (const { name } of fresh) {
    const edit = (bytes: Uint8Array) => edits.edit(name, bytes);
    note(name, await copyIntoWorkspace({ from, to, name, edit }, newId));
  }
  const isTakenOut = fresh.some(({ name }) => edits.split.has(name));
  if (isTakenOut && edits.notes !== null && !fresh.some(({ isOwnersProfile }) => isOwnersProfile)) {
    const file = { to, name: OWNERS_NOTES, bytes: edits.notes };
    note(OWNERS_NOTES, await writeIntoWorkspace(file, newId));
    print(
      `USER.md could not be extended: the notes about you are in ${OWNERS_NOTES}, which only you can read`,
    );
  }
  print(`Copied into ${to}: ${pluralize(counts.copied, 'file')}. The original is unchanged.`);
  return counts.failed === 0 ? 0 : 1;
}

/** Throws CliError `import-same` if the folders are the same or one is inside the other. */
function assertSeparateFolders(from: string, workspace: string): void {
  const [a, b] = [resolveRealPath(from), resolveRealPath(workspace)].map((path) => path + sep);
  if (a === undefined || b === undefined || !(a.startsWith(b) || b.startsWith(a))) return;
  throw new CliError(
    'import-same',
    `${from} is the workspace that Parley already uses (${workspace}), or part of it: there is nothing to import.`,
  );
}

function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // If the path does not exist yet, it is returned unchanged.
  }
}

function classifyExistingFile(
  from: string,
  workspace: string,
  name: string,
  edits: ImportEdits,
): ExistingFile {
  const path = join(workspace, name);
  const stats = readStats(path);
  if (stats === undefined) return 'nothing';
  // Links, pipes and other special files are not read or replaced.
  if (!stats.isFile()) return 'something';
  if (isCopy(path, join(from, name), (bytes) => edits.edit(name, bytes))) return 'the-same';
  return isSameContent(path, join(WORKSPACE_TEMPLATES, name)) ? 'a-template' : 'something';
}

/**
 * Returns undefined if nothing exists at the path. If a parent folder is actually a file, copying
 * reports the error.
 */
function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Returns whether a file equals the original, or the original with the edits of the import. */
function isCopy(path: string, original: string, edit: (bytes: Uint8Array) => Uint8Array): boolean {
  return isSameContent(path, original) || readFileSync(path).equals(edit(readFileSync(original)));
}

function isSameContent(path: string, other: string): boolean {
  return existsSync(other) && readFileSync(path).equals(readFileSync(other));
}

const MARKS = ['AGENTS.md', 'SOUL.md'];

/**
 * Finds the workspace that a path refers to: either the folder itself, or the workspace inside a
 * folder such as `~/.openclaw` or NeoMAGI's code folder. If the workspace is inside the folder,
 * `beside` lists the folder's other entries. Throws CliError `import-folder` if neither is a
 * workspace.
 */
function findWorkspace(
  path: string,
  agent: OtherAgent,
): { folder: string; beside: readonly string[] } {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new CliError('import-folder', `The folder ${folder} does not exist. Check the path.`);
  }
  const inside = join(folder, 'workspace');
  // NeoMAGI's code folder has its own AGENTS.md, which is meant for developers.
  const isOuter = agent === 'neomagi' && isWorkspace(inside);
  if (isWorkspace(folder) && !isOuter) return { folder, beside: [] };
  if (isWorkspace(inside)) {
    const beside = readdirSync(folder).filter((name) => name !== 'workspace');
    return { folder: inside, beside: beside.sort() };
  }
  const { name, usual } = AGENTS[agent];
  throw new CliError(
    'import-folder',
    `There is no ${name} workspace in ${folder}: it contains neither ${MARKS.join(' nor ')}. ${usual}`,
  );
}

function isWorkspace(folder: string): boolean {
  return MARKS.some((mark) => existsSync(join(folder, mark)));
}

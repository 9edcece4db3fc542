import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT_IN_TOOLS } from '@parley/agent';
import { reasonOf } from '@parley/core';
import { detectInstallationKind, INSTALLATION } from '@parley/core/installation';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { type CliContext, formatJson } from '../../cli.ts';
import { CliError, formatCommandLine, UsageError } from '../../data-folder.ts';
import { checkSettings } from '../../settings.ts';
import { createPluginFiles, findNameProblem, type PluginKind } from './plugin-template.ts';

export interface NewPluginFlags {
  readonly channel?: boolean;
  /** The parent folder of the new plugin's folder. */
  readonly in: string;
}

/** Channels without a definition of their own, and the first words of other lanes. */
const OTHER_CHANNELS = ['api', 'beat', 'sub'];

/**
 * `parley plugins new`: writes a working plugin with a test. If it throws CliError, nothing was
 * written, and an existing folder is unchanged.
 */
export async function createPlugin(
  { folder: data, env, print, json }: CliContext,
  name: string,
  flags: NewPluginFlags,
): Promise<number> {
  const kind: PluginKind = flags.channel ? 'channel' : 'tool';
  const channels = [...CHANNEL_DEFINITIONS.map(({ id }) => id), ...OTHER_CHANNELS];
  const problem = findNameProblem(name, kind, { tools: BUILT_IN_TOOLS, channels });
  if (problem !== null) throw new UsageError(problem);
  const folder = join(resolve(flags.in), name);
  const checked = checkSettings(data, env);
  if (checked.kind === 'ok') assertOutsideWorkspace(folder, checked.settings.agent.workspace);
  const use = toRelativePath(dirname(data.settingsFile), folder);
  const parley = toRelativePath(folder, fileURLToPath(INSTALLATION).replace(/\/$/, ''), 2);
  const files = createPluginFiles(name, kind, { parley, use });
  writeFolder(folder, files);
  const note = detectInstallationKind() === 'clone' ? tryBuildTypes() : null;
  if (json) print(formatJson({ folder, files: [...files.keys()], use, kind }));
  else print([`Wrote ${folder}: ${[...files.keys()].join(', ')}.`, ...nextSteps()].join('\n'));
  return 0;

  function nextSteps(): readonly string[] {
    const lines = [
      ...['', 'Check and test it:', `  cd ${toRelativePath('.', folder)}`],
      ...['  npm install', '  npx tsc', '  npm test'],
      ...['', `List it in ${data.settingsFile}, as its README.md shows, and start Parley:`],
      ...[`  plugins: ["${use}"]`, `  ${formatCommandLine('plugins', data)}`],
    ];
    return note === null ? lines : [...lines, '', note];
  }
}

/** No code is loaded from the workspace, because the agent can write there. */
function assertOutsideWorkspace(folder: string, workspace: string): void {
  const path = relative(workspace, folder);
  if (path.startsWith('..') || isAbsolute(path)) return;
  throw new CliError(
    'plugin-location',
    `${folder} is inside the workspace. The agent can write there, so Parley would not load a plugin from it. Nothing was written; choose another folder with --in.`,
  );
}

/**
 * Returns a path the way people write it: relative if it is inside `base` or at most `steps`
 * folders up, and otherwise absolute.
 */
function toRelativePath(base: string, path: string, steps = 0): string {
  const parts = relative(base, path).split(sep);
  const up = parts.filter((part) => part === '..').length;
  if (up > steps || isAbsolute(parts.join(sep))) return path;
  return (up === 0 ? ['.', ...parts] : parts).join('/');
}

/** Writes all files into a new folder. If it throws CliError, the written files were removed. */
function writeFolder(folder: string, files: ReadonlyMap<string, string>): void {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(folder);
  } catch (error) {
    if (existsSync(folder)) {
      throw new CliError(
        'plugin-exists',
        `${folder} already exists and was not changed. Choose another name, or another folder with --in.`,
      );
    }
    throw createUnwritableFolderError(folder, error);
  }
  try {
    for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: 'wx' });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw createUnwritableFolderError(folder, error);
  }
}

function createUnwritableFolderError(folder: string, error: unknown): CliError {
  const message = `${folder} is not writable: ${reasonOf(error)}. Choose another folder with --in.`;
  return new CliError('plugin-unwritable', message, error);
}

/**
 * Builds the published types, which are missing in a fresh clone. If that fails, returns advice for
 * the user.
 */
function tryBuildTypes(): string | null {
  const main = fileURLToPath(new URL('apps/parley/src/build/main.ts', INSTALLATION));
  const { status } = spawnSync(process.execPath, [main, '--types'], { stdio: 'ignore' });
  if (status === 0) return null;
  return `The types for "npx tsc" could not be built. Run "npm ci" in ${realpathSync(fileURLToPath(INSTALLATION))}, then "npm run release:types".`;
}

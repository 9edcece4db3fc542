import { pluralize } from '@parley/core';
import { describeProblem } from '@parley/settings';
import { upgradeSettings } from '@parley/settings/upgrade';
import { type CliContext, formatJson } from '../cli.ts';
import { loadPluginsForCommand } from '../plug-in.ts';
import { checkSettings, type LoadedSettings } from '../settings.ts';
import { findUnknownTools } from '../tool-names.ts';

/**
 * `parley config check`: prints all problems in the settings. The exit code is 0 if Parley can
 * start with these settings.
 */
export async function checkConfig(cli: CliContext): Promise<number> {
  const { folder, print } = cli;
  const { result, report, end } = await checkWithPlugins(cli);
  end();
  const broken =
    result.kind === 'ok' ? Object.values(result.channels).filter((c) => c.kind === 'broken') : [];
  const problems =
    result.kind === 'invalid' ? result.problems : broken.flatMap((channel) => channel.problems);
  const idle = result.warnings.filter(({ kind }) => kind === 'no-effect');
  if (cli.json) {
    const { settingsFile: file } = folder;
    const plugins = report.map(({ works, line }) => ({ works, line }));
    print(formatJson({ file, kind: result.kind, problems, warnings: result.warnings, plugins }));
    return problems.length + idle.length > 0 ? 1 : 0;
  }
  for (const warning of result.warnings) {
    if (warning.kind !== 'no-effect') print(`warning: ${describeProblem(warning)}\n`);
  }
  for (const { works, line } of report) if (!works) print(`warning: the plugin ${line}\n`);
  for (const problem of [...problems, ...idle]) print(`${describeProblem(problem)}\n`);
  if (result.kind === 'invalid') {
    print(
      `${folder.settingsFile}: ${pluralize(problems.length, 'problem')}; Parley will not start.`,
    );
    return 1;
  }
  if (broken.length > 0) {
    const names = broken.map(({ channel, account }) => `${channel}/${account}`).join(', ');
    print(`${folder.settingsFile}: Parley will start, but without ${names}.`);
    return 1;
  }
  if (idle.length > 0) {
    const what = idle.length === 1 ? '1 setting has' : `${idle.length} settings have`;
    print(`${folder.settingsFile}: Parley will start, but ${what} no effect.`);
    return 1;
  }
  const origin = result.origin === 'file' ? 'is fine' : 'does not exist; the defaults apply';
  print(`${folder.settingsFile} ${origin}.`);
  return 0;
}

/**
 * Checks the settings the way startup does. Plugins named in the settings are loaded, because they
 * may define channels. The caller must call `end` when it no longer needs the result. `loaded` is
 * null if the settings are invalid.
 */
export async function checkWithPlugins({ folder, env }: Pick<CliContext, 'folder' | 'env'>) {
  const first = checkSettings(folder, env);
  const nothing = { report: [], definitions: null, end: () => {} };
  if (first.kind === 'invalid') return { result: first, loaded: null, ...nothing };
  if (first.settings.plugins.length === 0) {
    const result = addToolWarnings(first, []);
    return { result, loaded: result, ...nothing };
  }
  const { definitions, report, agent, end } = await loadPluginsForCommand(first, { folder, env });
  const checked = checkSettings(folder, env, definitions);
  const added = agent.tools.flatMap(({ tools }) => tools.map(({ name }) => name));
  const result = checked.kind === 'ok' ? addToolWarnings(checked, added) : checked;
  return { result, loaded: result.kind === 'ok' ? result : null, report, definitions, end };
}

/** Returns the settings with warnings about unknown tool names. */
function addToolWarnings(loaded: LoadedSettings, added: readonly string[]): LoadedSettings {
  return { ...loaded, warnings: [...loaded.warnings, ...findUnknownTools(loaded, added)] };
}

/**
 * `parley config upgrade`: rewrites an older settings file in the current format. The exit code is
 * 0 when the file is up to date afterwards. Upgrading is optional, because each start converts an
 * older file in memory.
 */
export async function upgradeConfig({ folder, print, json }: CliContext): Promise<number> {
  const { settingsFile } = folder;
  const result = upgradeSettings(settingsFile);
  if (json) {
    print(formatJson({ file: settingsFile, ...result }));
    return ['upgraded', 'current', 'missing'].includes(result.kind) ? 0 : 1;
  }
  if (result.kind === 'upgraded') {
    const { from, to, renamed, kept } = result;
    print(
      `${settingsFile} was upgraded from version ${from} to version ${to}. The previous version is in ${kept}.`,
    );
    for (const line of renamed) print(`  ${line}`);
    return 0;
  }
  if (result.kind === 'current') print(`${settingsFile} is up to date.`);
  if (result.kind === 'missing') print(`${settingsFile} does not exist; the defaults apply.`);
  if (result.kind === 'current' || result.kind === 'missing') return 0;
  const reason =
    result.kind === 'newer'
      ? `has version ${result.version}, written by ${result.writtenBy === null ? 'a newer Parley' : `Parley ${result.writtenBy}`}; update Parley`
      : 'is not valid YAML; "parley config check" shows where';
  print(`${settingsFile} ${reason}. It was not changed.`);
  return 1;
}

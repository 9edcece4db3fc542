import { silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { describeProblem } from '@parley/settings';
import type { DataFolder } from '../data-folder.ts';
import { endSoon } from '../end-soon.ts';
import { plugIn } from '../plug-in.ts';
import { checkSettings, countOf } from '../read-settings.ts';

/** `parley config check`: says all that is wrong with the settings; 0 when nothing keeps anything from running. */
export async function configCheck(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const { result, report } = await checkWithPlugins(folder, env);
  const broken =
    result.kind === 'ok' ? Object.values(result.channels).filter((c) => c.kind === 'broken') : [];
  const problems =
    result.kind === 'invalid' ? result.problems : broken.flatMap((channel) => channel.problems);
  for (const warning of result.warnings) print(`warning: ${describeProblem(warning)}\n`);
  for (const { works, line } of report) if (!works) print(`warning: the plugin ${line}\n`);
  for (const problem of problems) print(`${describeProblem(problem)}\n`);
  if (result.kind === 'invalid') {
    print(`${folder.settingsFile}: ${countOf(problems.length, 'problem')}; Parley will not start.`);
    return 1;
  }
  if (broken.length > 0) {
    const names = broken.map(({ channel, account }) => `${channel}/${account}`).join(', ');
    print(`${folder.settingsFile}: Parley will start, but without ${names}.`);
    return 1;
  }
  const origin = result.origin === 'file' ? 'is fine' : 'does not exist; the defaults apply';
  print(`${folder.settingsFile} ${origin}.`);
  return 0;
}

/** Plugins know channels of their own; they are loaded for a look where the settings name some. */
async function checkWithPlugins(folder: DataFolder, env: NodeJS.ProcessEnv) {
  const first = checkSettings(folder, env);
  if (first.kind === 'invalid' || first.settings.plugins.length === 0) {
    return { result: first, report: [] };
  }
  const known = { channels: CHANNEL_DEFINITIONS, log: silentLogger, clock: Date.now };
  const { definitions, report } = await plugIn(first, { folder, env, ...known });
  endSoon();
  return { result: checkSettings(folder, env, definitions), report };
}

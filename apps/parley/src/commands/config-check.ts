import { describeProblem } from '@parley/settings';
import type { DataFolder } from '../data-folder.ts';
import { checkSettings, countOf } from '../read-settings.ts';

/** `parley config check`: says all that is wrong with the settings; 0 when nothing keeps anything from running. */
export function configCheck(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): number {
  const result = checkSettings(folder, env);
  const broken =
    result.kind === 'ok' ? Object.values(result.channels).filter((c) => c.kind === 'broken') : [];
  const problems =
    result.kind === 'invalid' ? result.problems : broken.flatMap((channel) => channel.problems);
  for (const warning of result.warnings) print(`warning: ${describeProblem(warning)}\n`);
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

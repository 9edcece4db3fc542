import { upgradeSettings } from '@parley/settings/upgrade';
import type { DataFolder } from '../data-folder.ts';

/**
 * `parley config upgrade`: writes an older settings file as this Parley has it; 0 when it is up to date
 * now. Without it an older file works as well: it is brought up to date in memory at each start.
 */
export async function configUpgrade(
  { settingsFile }: Pick<DataFolder, 'settingsFile'>,
  print: (text: string) => void,
): Promise<number> {
  const result = upgradeSettings(settingsFile);
  if (result.kind === 'upgraded') {
    const { from, to, kept } = result;
    print(
      `${settingsFile} was of version ${from} and is of version ${to} now; ${kept} is as it was.`,
    );
    return 0;
  }
  if (result.kind === 'current') print(`${settingsFile} is up to date.`);
  if (result.kind === 'missing') print(`${settingsFile} does not exist; the defaults apply.`);
  if (result.kind === 'current' || result.kind === 'missing') return 0;
  const reason =
    result.kind === 'newer'
      ? `is of version ${result.version}, of ${result.writtenBy === null ? 'a newer Parley' : `Parley ${result.writtenBy}`}; update Parley`
      : 'is not valid YAML; "parley config check" says where';
  print(`${settingsFile} ${reason}. It was left as it is.`);
  return 1;
}

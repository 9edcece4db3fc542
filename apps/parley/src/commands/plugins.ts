import { silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { endSoon } from '../end-soon.ts';
import { findGateway } from '../find-gateway.ts';
import { plugIn } from '../plug-in.ts';
import { readSettings } from '../read-settings.ts';
import type { PluginLine } from '../status-report.ts';
import { askGateway } from './status.ts';

/**
 * `parley plugins`: what each plugin brings, or why it does not work; 0 when all work. Where a gateway
 * runs, what it has loaded; else they are loaded here, for a look.
 */
export async function plugins(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  const lines = gateway ? (await askGateway(gateway)).plugins : await lookAt(folder, env);
  if (lines.length === 0) {
    print(`No plugins. Name folders or packages under "plugins" in ${folder.settingsFile}.`);
    return 0;
  }
  for (const { works, line } of lines) print(`${works ? '✓' : '✗'} ${line}`);
  if (gateway) {
    print(`\nAs loaded by the running Parley; "${commandLine('start', folder)}" loads them anew.`);
  }
  return lines.every(({ works }) => works) ? 0 : 1;
}

async function lookAt(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<readonly PluginLine[]> {
  const first = readSettings(folder, env);
  const { report } = await plugIn(first, {
    folder,
    env,
    channels: CHANNEL_DEFINITIONS,
    log: silentLogger,
    clock: Date.now,
  });
  endSoon();
  return report;
}

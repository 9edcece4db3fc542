import type { GatewayStatus, PluginLine } from '@parley/gateway/api';
import { type Cli, jsonText } from '../../cli.ts';
import { commandLine } from '../../data-folder.ts';
import { plugInForCommand } from '../../plug-in.ts';
import { askGateway, findGateway } from '../../running-gateway.ts';
import { readSettings } from '../../settings.ts';

/**
 * `parley plugins`: lists the plugins as the running gateway loaded them; without one, loads them
 * here. Exit code 0 if all work.
 */
export async function listPlugins(cli: Cli): Promise<number> {
  const { folder, env, print } = cli;
  const gateway = await findGateway(folder, env);
  const running = gateway && (await askGateway<GatewayStatus>(gateway, '/api/status/report'));
  const lines = running?.plugins ?? (await loadPluginLines(cli));
  const code = lines.every(({ works }) => works) ? 0 : 1;
  if (cli.json) {
    print(jsonText({ plugins: lines }));
    return code;
  }
  if (lines.length === 0) {
    print(
      `No plugins. Name folders or packages under "plugins" in ${folder.settingsFile}; "${commandLine('plugins new NAME', folder)}" writes one.`,
    );
    return 0;
  }
  for (const { works, line } of lines) print(`${works ? '✓' : '✗'} ${line}`);
  if (running) {
    print(`\nAs loaded by the running Parley; "${commandLine('start', folder)}" loads them again.`);
  }
  return code;
}

async function loadPluginLines(cli: Cli): Promise<readonly PluginLine[]> {
  const { report, end } = await plugInForCommand(readSettings(cli.folder, cli.env), cli);
  end();
  return report;
}

import type { GatewayStatus, PluginLine } from '@parley/gateway/api';
import { type CliContext, formatJson } from '../../cli.ts';
import { formatCommandLine } from '../../data-folder.ts';
import { loadPluginsForCommand } from '../../plug-in.ts';
import { askGateway, findGateway } from '../../running-gateway.ts';
import { readSettings } from '../../settings.ts';

/**
 * `parley plugins`: lists the plugins that the running gateway has loaded. If none is running, the
 * command loads them itself. The exit code is 0 if all plugins work.
 */
export async function listPlugins(cli: CliContext): Promise<number> {
  const { folder, env, print } = cli;
  const gateway = await findGateway(folder, env);
  const running = gateway && (await askGateway<GatewayStatus>(gateway, '/api/status/report'));
  const lines = running?.plugins ?? (await loadPluginLines(cli));
  const code = lines.every(({ works }) => works) ? 0 : 1;
  if (cli.json) {
    print(formatJson({ plugins: lines }));
    return code;
  }
  if (lines.length === 0) {
    print(
      `There are no plugins. List folders or packages under "plugins" in ${folder.settingsFile}; "${formatCommandLine('plugins new NAME', folder)}" creates one.`,
    );
    return 0;
  }
  for (const { works, line } of lines) print(`${works ? '✓' : '✗'} ${line}`);
  if (running) {
    print(
      `\nThis is the state in the running gateway; "${formatCommandLine('start', folder)}" loads the plugins again.`,
    );
  }
  return code;
}

async function loadPluginLines(cli: CliContext): Promise<readonly PluginLine[]> {
  const { report, end } = await loadPluginsForCommand(readSettings(cli.folder, cli.env), cli);
  end();
  return report;
}

import { existsSync } from 'node:fs';
import { systemTime } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry/scrubber';
import type { AccountStatus, SetupPage } from '@parley/gateway';
import type { GatewayStatus } from '@parley/gateway/api';
import { writeSettingsTemplate } from '@parley/settings';
import type { Cli } from '../../cli.ts';
import { createDataFolder } from '../../data-folder.ts';
import { askGateway, type FoundGateway } from '../../running-gateway.ts';
import { readSettings } from '../../settings.ts';
import { Setup } from '../../setup-page.ts';
import { checkWithPlugins } from '../config.ts';

/** A step may ask a model or a platform, which have 20 s. In ms. */
const STEP_WITHIN_MS = 25_000;

export interface RunningSetup extends SetupPage {
  accounts(): Promise<readonly AccountStatus[]>;
}

/** The steps of the setup, done by the gateway that runs. */
export function setupThrough(gateway: FoundGateway): RunningSetup {
  const withinMs = STEP_WITHIN_MS;
  return {
    state: () => askGateway(gateway, '/api/setup', { withinMs }),
    take: (body) => askGateway(gateway, '/api/setup', { body, withinMs }),
    accounts: async () => (await askGateway<GatewayStatus>(gateway, '/api/status/report')).channels,
  };
}

/** The same steps where no gateway runs: they work on the settings file alone, so nobody waits here. */
export async function offlineSetup(cli: Pick<Cli, 'folder' | 'env'>): Promise<SetupPage> {
  const { folder, env } = cli;
  readSettings(folder, env); // Throws what is wrong with the file.
  const { definitions, loaded, end } = await checkWithPlugins(cli);
  end();
  const { CHANNEL_DEFINITIONS } = await import('@parley/gateway/channel-definitions');
  const now = () =>
    new Setup({
      ...{ folder, env, ...systemTime, secrets: openSecrets([]) },
      definitions: definitions ?? CHANNEL_DEFINITIONS,
      loaded: loaded ?? readSettings(folder, env),
      model: { line: () => modelLine(loaded ?? readSettings(folder, env)) },
      store: { pairing: { pending: async () => [] } },
    });
  return {
    state: () => now().state(),
    take: (order) => {
      createDataFolder(folder);
      const isTry = order.kind !== 'owner' && order.isTry;
      if (!isTry && !existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
      return now().take(order);
    },
  };
}

function modelLine({ settings: { model } }: ReturnType<typeof readSettings>): string {
  const { model: chosen } = model;
  return typeof chosen === 'string' ? 'offline' : `${chosen.provider}/${chosen.model}`;
}

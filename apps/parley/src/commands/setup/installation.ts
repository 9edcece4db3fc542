import { existsSync } from 'node:fs';
import { systemTime } from '@parley/core';
import { openSecrets } from '@parley/core/telemetry/scrubber';
import type { AccountStatus, SetupSteps } from '@parley/gateway';
import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { writeSettingsTemplate } from '@parley/settings';
import type { CliContext } from '../../cli.ts';
import { createDataFolder } from '../../data-folder.ts';
import { askGateway, type FoundGateway } from '../../running-gateway.ts';
import { readSettings } from '../../settings.ts';
import { Setup } from '../../setup-steps.ts';
import { checkWithPlugins } from '../config.ts';

/**
 * The deadline (ms) for a setup step. A step may call a model or a platform, which must answer
 * within 20 s.
 */
const STEP_WITHIN_MS = 25_000;

export interface RunningSetup extends SetupSteps {
  accounts(): Promise<readonly AccountStatus[]>;
}

/** Returns the setup steps, carried out by the running gateway. */
export function createGatewaySetup(gateway: FoundGateway): RunningSetup {
  const step = <Name extends OperationName>(name: Name, input: InputOf<Name>) =>
    askGateway<OutputOf<Name>>(gateway, `/api/${name}`, {
      ...{ body: { ...input }, withinMs: STEP_WITHIN_MS },
    });
  return {
    state: () => step('setup/state', {}),
    tryModel: (model) => step('setup/try-model', model),
    saveModel: (model) => step('setup/save-model', model),
    tryChannel: (channel) => step('setup/try-channel', channel),
    saveChannel: (channel) => step('setup/save-channel', channel),
    addOwner: (person) => step('setup/add-owner', { person }),
    accounts: async () => (await step('status/report', {})).channels,
  };
}

/**
 * Returns the same setup steps for use without a running gateway. Offline setup steps change only
 * the settings file. Nobody can be waiting to be paired while Parley is not running.
 */
export async function createOfflineSetup(
  cli: Pick<CliContext, 'folder' | 'env'>,
): Promise<SetupSteps> {
  const { folder, env } = cli;
  readSettings(folder, env); // If the settings file is invalid, this throws an error that describes the problems.
  const { definitions, loaded, end } = await checkWithPlugins(cli);
  end();
  const { CHANNEL_DEFINITIONS } = await import('@parley/gateway/channel-definitions');
  const now = () =>
    new Setup({
      ...{ folder, env, ...systemTime, secrets: openSecrets([]) },
      definitions: definitions ?? CHANNEL_DEFINITIONS,
      loaded: loaded ?? readSettings(folder, env),
      model: { line: () => formatModelLine(loaded ?? readSettings(folder, env)) },
      // A bot that is not running does not receive messages, so there are no pending pairings.
      store: { pairing: { pending: async () => [], settle: async () => {} } },
    });
  const write = () => {
    createDataFolder(folder);
    if (!existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
    return now();
  };
  return {
    state: () => now().state(),
    tryModel: (model) => now().tryModel(model),
    tryChannel: (channel) => now().tryChannel(channel),
    saveModel: (model) => write().saveModel(model),
    saveChannel: (channel) => write().saveChannel(channel),
    addOwner: (person) => write().addOwner(person),
  };
}

function formatModelLine({ settings: { model } }: ReturnType<typeof readSettings>): string {
  const { model: chosen } = model;
  return typeof chosen === 'string' ? 'offline' : `${chosen.provider}/${chosen.model}`;
}

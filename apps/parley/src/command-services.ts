import { createRefusalError, newId, silentLogger, systemTime } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import type { OperationServices } from '@parley/gateway/operations';
import type { Store } from '@parley/store';
import type { CliContext } from './cli.ts';
import { createSecretScrubber, findChosenAgent, type LoadedSettings } from './settings.ts';

async function requireGateway(): Promise<never> {
  throw createRefusalError('not-running', 'Only a running gateway can do that.');
}

/**
 * The services that operations use when no gateway is running, on the same database. Changes made
 * without a gateway do not wake other processes; the next start picks up the work. Each service is
 * loaded on first use. `atEnd` is called when the command has finished.
 */
export function createCommandServices(
  { folder, env }: Pick<CliContext, 'folder' | 'env'>,
  store: Store,
  loaded: LoadedSettings,
  atEnd: (end: () => void) => void,
): OperationServices {
  const proactive = () => import('./proactive.ts');
  const memory = () => import('./memory-here.ts');
  return {
    ...{ store, newId, scrub: createSecretScrubber(folder, env) },
    ...{ clock: systemTime.clock, log: silentLogger },
    defaultAgent: loaded.settings.agent.id,
    ...{
      approvals: requireGateway,
      audit: requireGateway,
      bugReport: requireGateway,
      keepCase: requireGateway,
      logs: requireGateway,
      mcpSignIns: requireGateway,
      preview: requireGateway,
      promptFiles: requireGateway,
      readableRoutes: requireGateway,
      settingsFile: requireGateway,
      setup: requireGateway,
      situation: requireGateway,
      status: requireGateway,
    },
    wake: async () => {},
    answerPrinter: async () => (await import('@parley/channels')).createAnswerPrinter(),
    bus: { publish() {} },
    agents: async () => (await import('./agents.ts')).listAgentSummaries(loaded),
    async channels() {
      const [
        { planAccounts },
        { listOfflineAccounts: offlineAccounts, createChannelSettings: channelSettings },
      ] = await Promise.all([import('./access.ts'), import('./channels.ts')]);
      const { clock, monotonic } = systemTime;
      const planned = planAccounts(loaded, loaded.settings.owners, CHANNEL_DEFINITIONS);
      const settings = channelSettings({ folder, env, clock, channels: CHANNEL_DEFINITIONS });
      return { accounts: await offlineAccounts(planned, store, clock), settings, monotonic };
    },
    cron: async () => (await proactive()).createOfflineCron(store, loaded),
    heartbeat: async (name) =>
      (await proactive()).createOfflineHeartbeat(store, findChosenAgent(loaded, name)),
    hooks: async () => (await proactive()).createOfflineHooks(store, loaded),
    async replays() {
      const { openReplays } = await import('./commands/replay/open-replays.ts');
      const deps = { ...systemTime, store, loaded, folder, env, log: silentLogger };
      return (choice, ...asked) => openReplays(choice, deps)(...asked);
    },
    async replayChoices(name) {
      const { listReplayChoices } = await import('./commands/replay/list-choices.ts');
      return listReplayChoices(loaded, name, folder);
    },
    usage: async () => (await import('./access.ts')).toUsageDisplaySettings(loaded.settings),
    files: async (name) =>
      (await memory()).openFilesForCommand(store, findChosenAgent(loaded, name)),
    memory: async (name) =>
      (await memory()).openMemoryForCommand(store, findChosenAgent(loaded, name)),
    skills: async (name) =>
      (await import('./skills-here.ts')).openSkillsForCommand(loaded, name, { folder, env }, atEnd),
    async pageSessions() {
      const { pageSessions, signIns } = store;
      const list = async () => {
        const named = new Map((await signIns.list()).map((signIn) => [signIn.hash, signIn]));
        const stored = await pageSessions.list(systemTime.clock());
        return stored.map((one) => ({ ...one, signIn: named.get(one.openedWith) ?? null }));
      };
      return { list, end: pageSessions.end, look: async () => {} };
    },
    async soul(name) {
      const { createOfflineSoul } = await import('./soul.ts');
      return createOfflineSoul(store, findChosenAgent(loaded, name), loaded.settings, folder);
    },
  };
}

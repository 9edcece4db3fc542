import { newId, refusal, silentLogger, systemTime } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import type { Services } from '@parley/gateway/operations';
import type { Store } from '@parley/store';
import type { Cli } from './cli.ts';
import { chosenAgent, type LoadedSettings, scrubOf } from './settings.ts';

async function needsGateway(): Promise<never> {
  throw refusal('not-running', 'Only a running Parley can do that.');
}

/**
 * The services behind operations when no gateway is running, on the same database. They wake no
 * process: the next start picks up the work. Each service is loaded when it is first used. `atEnd`
 * is called when the command has finished.
 */
export function commandServices(
  { folder, env }: Pick<Cli, 'folder' | 'env'>,
  store: Store,
  loaded: LoadedSettings,
  atEnd: (end: () => void) => void,
): Services {
  const proactive = () => import('./proactive.ts');
  const memory = () => import('./memory-here.ts');
  return {
    ...{ store, newId, scrub: scrubOf(folder, env) },
    ...{ clock: systemTime.clock, log: silentLogger },
    defaultAgent: loaded.settings.agent.id,
    ...{
      approvals: needsGateway,
      audit: needsGateway,
      bugReport: needsGateway,
      logs: needsGateway,
      mcpSignIns: needsGateway,
      preview: needsGateway,
      promptFiles: needsGateway,
      readableRoutes: needsGateway,
      settingsFile: needsGateway,
      setup: needsGateway,
      situation: needsGateway,
      status: needsGateway,
    },
    wake: async () => {},
    answerPrinter: async () => (await import('@parley/channels')).createAnswerPrinter(),
    bus: { publish() {} },
    agents: async () => (await import('./agents.ts')).shownAgents(loaded),
    async channels() {
      const [{ planAccounts }, { offlineAccounts, channelSettings }] = await Promise.all([
        import('./access.ts'),
        import('./channels.ts'),
      ]);
      const { clock, monotonic } = systemTime;
      const planned = planAccounts(loaded, loaded.settings.owners, CHANNEL_DEFINITIONS);
      const settings = channelSettings({ folder, env, clock, channels: CHANNEL_DEFINITIONS });
      return { accounts: await offlineAccounts(planned, store, clock), settings, monotonic };
    },
    cron: async () => (await proactive()).offlineCron(store, loaded),
    heartbeat: async (name) =>
      (await proactive()).offlineHeartbeat(store, chosenAgent(loaded, name)),
    hooks: async () => (await proactive()).offlineHooks(store, loaded),
    usage: async () => (await import('./access.ts')).usageFacts(loaded.settings),
    files: async (name) => (await memory()).filesHere(store, chosenAgent(loaded, name)),
    memory: async (name) => (await memory()).memoryHere(store, chosenAgent(loaded, name)),
    skills: async (name) =>
      (await import('./skills-here.ts')).skillsHere(loaded, name, { folder, env }, atEnd),
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
      const { offlineSoul } = await import('./soul.ts');
      return offlineSoul(store, chosenAgent(loaded, name), loaded.settings, folder);
    },
  };
}

import { newId, refusal, silentLogger, systemTime } from '@parley/core';
import type { Services } from '@parley/gateway/operations';
import type { Store } from '@parley/store';
import type { Cli } from './cli.ts';
import { chosenAgent, type LoadedSettings, scrubOf } from './settings.ts';

/** Its operations are refused before they open it. */
async function needsGateway(): Promise<never> {
  throw refusal('not-running', 'Only a running Parley can do that.');
}

/**
 * What operations work with where no gateway runs: the same services on the database. They wake no one: the next start
 * finds what is to be done. Each is loaded when it is opened.
 */
export function commandServices(
  { folder, env }: Pick<Cli, 'folder' | 'env'>,
  store: Store,
  loaded: LoadedSettings,
): Services {
  const proactive = () => import('./proactive.ts');
  return {
    ...{ store, newId, scrub: scrubOf(folder, env) },
    ...{ clock: systemTime.clock, log: silentLogger },
    defaultAgent: loaded.settings.agent.id,
    endStreams: async () => {},
    wake: async () => {},
    agents: async () => (await import('./agents.ts')).shownAgents(loaded),
    cron: async () => (await proactive()).cronHere(store, loaded),
    heartbeat: async (name) => (await proactive()).heartbeatHere(store, chosenAgent(loaded, name)),
    hooks: async () => (await proactive()).hooksHere(store, loaded),
    usage: async () => (await import('./access.ts')).usageFacts(loaded.settings),
    memory: needsGateway,
    async soul(name) {
      const { soulHere } = await import('./soul.ts');
      return soulHere(store, chosenAgent(loaded, name), loaded.settings, folder);
    },
  };
}

import { registerHooks } from 'node:module';

const ROOT = new URL('../../../', import.meta.url).href;
const SIMULATION = new URL('../', import.meta.url).href;
const WORLD = `${SIMULATION}world/`;

/** What talks to a server, and what the simulation has in its place. `from`: the only module that gets it. */
const REPLACED = [
  {
    module: 'packages/queue/src/redis-backend.ts',
    from: 'packages/queue/src/backend.ts',
    by: 'shared-queue.ts',
  },
  {
    module: 'packages/queue/src/redis-bus.ts',
    from: 'packages/queue/src/open-bus.ts',
    by: 'shared-bus.ts',
  },
  {
    module: 'packages/store/src/open-store.ts',
    from: 'packages/store/src/index.ts',
    by: 'shared-store.ts',
  },
] as const;

/**
 * Puts the simulation's servers in the place of Redis and PostgreSQL, where the product would open a connection to
 * them. Must be called before the product's modules are loaded.
 */
export function installModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'node:sqlite' && !context.parentURL?.startsWith(SIMULATION)) {
        return { url: `${SIMULATION}engine/simulated-sqlite.ts`, shortCircuit: true };
      }
      if (specifier === 'ws' && context.parentURL?.includes('/@discordjs/ws/')) {
        return { url: `${WORLD}simulated-socket.ts`, shortCircuit: true };
      }
      const found = next(specifier, context);
      const replaced = REPLACED.find(
        ({ module, from }) => found.url === ROOT + module && context.parentURL === ROOT + from,
      );
      return replaced === undefined ? found : { ...found, url: WORLD + replaced.by };
    },
  });
}

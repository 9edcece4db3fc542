import { registerHooks } from 'node:module';

const ROOT = new URL('../../../', import.meta.url).href;
const SIMULATION = new URL('../', import.meta.url).href;
const WORLD = `${SIMULATION}world/`;

/**
 * Modules that talk to a server, and their replacements in the simulation. `from` is the only
 * module that gets the replacement.
 */
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
 * Replaces Redis and PostgreSQL with the simulation's servers where the product would open a
 * connection to them. Must be called before the product's modules are loaded.
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

import { startHealthServer } from '@parley/gateway';
import type { OpenLog } from './open-log.ts';
import type { Parts } from './open-parts.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** Starts the web server of a worker, and leaves in `opened` how it is closed. */
export async function composeHealth(
  { log, secrets, token, port, clock }: StartOptions & OpenLog,
  http: LoadedSettings['settings']['http'],
  { shared: { store, turns }, scrape }: Parts,
  opened: AsyncDisposableStack,
): Promise<{ readonly address: string }> {
  const server = await startHealthServer({
    host: http.host,
    port: port ?? http.port,
    token,
    clock,
    log,
    scrub: secrets.scrub,
    metrics: async (health) => scrape([], await health()),
    ping: () => store.ping(),
    pingQueue: () => turns.depth(),
  });
  opened.defer(() => server.close());
  return server;
}

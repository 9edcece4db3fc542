import { resolve } from 'node:path';
import { rerouteHosts } from '../../platforms/chat-sdk/doubles/reroute.ts';

/** Hosts of client libraries on loopback, in this process and in a separate Parley. */
export interface Rerouting {
  /** For `Peer.program`. */
  readonly program: string;
  end(): void;
}

/** Sends requests for these hosts to ports on loopback, where no option of an adapter does. */
export function rerouteEverywhere(ports: Readonly<Record<string, number>>): Rerouting {
  const restore = rerouteHosts(ports);
  process.env.PARLEY_TEST_HOSTS = JSON.stringify(ports);
  return {
    program: resolve(import.meta.dirname, 'rerouted-program.ts'),
    end() {
      restore();
      delete process.env.PARLEY_TEST_HOSTS;
    },
  };
}

import { resolve } from 'node:path';
import { rerouteHosts } from '../../platforms/chat-sdk/doubles/reroute.ts';

/** Redirects hosts of client libraries to loopback, in this process and in a separate Parley. */
export interface HostRerouting {
  /** Used as `Peer.program`. */
  readonly program: string;
  end(): void;
}

/** Sends requests for these hosts to loopback ports, if an adapter has no option for that. */
export function rerouteEverywhere(ports: Readonly<Record<string, number>>): HostRerouting {
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

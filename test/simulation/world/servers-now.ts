import type { LiveEvent } from '@parley/core';

/** The servers that processes of one deployment share, as they are in the simulation that runs. */
export interface SharedServers {
  /** The file that stands for PostgreSQL. */
  readonly database: string;
  /** The file in which BullMQ keeps what it keeps in Redis. */
  readonly queue: string;
  /** How a wake-up fares. */
  wakeUp(): 'stored' | 'lost' | 'doubled' | 'away';
  /** Whether Redis cannot be reached. */
  isQueueAway(): boolean;
  /** The highest number that any process has named under a name. */
  readonly marks: Map<string, number>;
  /** Makes a listener of a process hear the events of the others; returns the function that ends that. */
  listen(hear: (event: LiveEvent) => void): () => void;
  /** Sends an event to all other processes. */
  tell(event: LiveEvent): void;
}

/**
 * Where the modules that stand for Redis and PostgreSQL find their servers: they are loaded by the product, which
 * passes them nothing of a simulation.
 */
export const serversNow: { servers: SharedServers | null } = { servers: null };

/** Throws where a process asks for servers in a simulation that has none. */
export function sharedServers(): SharedServers {
  if (serversNow.servers === null) throw new Error('this simulation has no shared servers');
  return serversNow.servers;
}

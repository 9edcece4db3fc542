import type { LiveEvent } from '@parley/core';

/** The shared servers of the deployment that is currently simulated. */
export interface SharedServers {
  /** The file that represents PostgreSQL. */
  readonly database: string;
  /** The file in which BullMQ stores the data that it would keep in Redis. */
  readonly queue: string;
  /** Draws the outcome of a wake-up. */
  wakeUp(): 'stored' | 'lost' | 'doubled' | 'away';
  /** Whether Redis cannot be reached. */
  isQueueAway(): boolean;
  /** The highest number that any process has published under each name. */
  readonly marks: Map<string, number>;
  /** Subscribes a process to other processes' events; returns the function that unsubscribes it. */
  listen(hear: (event: LiveEvent) => void): () => void;
  /** Sends an event to all other processes. */
  tell(event: LiveEvent): void;
}

/**
 * The current servers, for the modules that replace Redis and PostgreSQL: the product loads those
 * modules without passing them anything from a simulation.
 */
export const serversNow: { servers: SharedServers | null } = { servers: null };

/** Throws when a process asks for servers in a simulation that does not have any. */
export function getSharedServers(): SharedServers {
  if (serversNow.servers === null) throw new Error('this simulation has no shared servers');
  return serversNow.servers;
}

import type { KeptAlive } from './kept-alive.ts';
import type { KillableServer } from './killable-server.ts';
import type { Stored } from './stored.ts';

/** How Parley is laid out: all in one process, or gateways and workers beside Redis and PostgreSQL. */
export const DEPLOYMENTS = ['embedded', 'distributed'] as const;
export type DeploymentName = (typeof DEPLOYMENTS)[number];

/** A deployment whose processes can be killed one by one and are started again. */
export interface Deployment {
  readonly name: DeploymentName;
  /** The processes of Parley. */
  readonly processes: readonly KeptAlive[];
  /** What Parley itself needs to run; none where all is in one process. */
  readonly servers: readonly KillableServer[];
  readonly stored: Stored;
  /** Ends what is left, in whatever state it is. */
  close(): Promise<void>;
}

/** Data folders of the processes that serve the web page. */
export const EMBEDDED_FOLDERS = ['parley'] as const;
export const GATEWAY_FOLDERS = ['gateway-1', 'gateway-2'] as const;
export const WORKER_FOLDERS = ['worker-1', 'worker-2'] as const;

import type { SupervisedProcess } from './kept-alive.ts';
import type { KillableServer } from './killable-server.ts';
import type { StoredQueries } from './stored.ts';

/**
 * A deployment layout: everything in one process, or gateways and workers with Redis and
 * PostgreSQL.
 */
export const DEPLOYMENTS = ['embedded', 'distributed'] as const;
export type DeploymentName = (typeof DEPLOYMENTS)[number];

/** A deployment whose processes can be killed individually and are restarted. */
export interface Deployment {
  readonly name: DeploymentName;
  /** Parley's processes. */
  readonly processes: readonly SupervisedProcess[];
  /** The servers that Parley needs; empty if everything runs in one process. */
  readonly servers: readonly KillableServer[];
  readonly stored: StoredQueries;
  /** Ends every remaining process, in whatever state it is. */
  close(): Promise<void>;
}

/** The data folders of the processes that serve the web page. */
export const EMBEDDED_FOLDERS = ['parley'] as const;
export const GATEWAY_FOLDERS = ['gateway-1', 'gateway-2'] as const;
export const WORKER_FOLDERS = ['worker-1', 'worker-2'] as const;

import type { Deployment, DeploymentName } from './deployment.ts';
import { embedded } from './embedded.ts';
import type { Report } from './victim-order.ts';

/** What a deployment is opened with. */
export interface DeploymentOptions {
  /** Holds a data folder for each process. */
  readonly root: string;
  /** Without where the database and the queue are. */
  readonly settings: object;
  readonly hear: (report: Report) => void;
}

/** Prepares a deployment; nothing of Parley runs yet. */
export async function openDeployment(
  name: DeploymentName,
  { root, settings, hear }: DeploymentOptions,
): Promise<Deployment> {
  if (name === 'embedded') return embedded(root, settings, hear);
  const { distributed } = await import('./distributed.ts');
  return distributed(root, settings, hear);
}

import type { Deployment, DeploymentName } from './deployment.ts';
import { embedded } from './embedded.ts';
import type { Report } from './victim-order.ts';

/** The options for opening a deployment. */
export interface DeploymentOptions {
  /** Contains a data folder for each process. */
  readonly root: string;
  /** Settings without the addresses of database and queue. */
  readonly settings: object;
  readonly hear: (report: Report) => void;
}

/** Prepares a deployment; no process of Parley runs yet. */
export async function openDeployment(
  name: DeploymentName,
  { root, settings, hear }: DeploymentOptions,
): Promise<Deployment> {
  if (name === 'embedded') return embedded(root, settings, hear);
  const { distributed } = await import('./distributed.ts');
  return distributed(root, settings, hear);
}

import type { Deployment, DeploymentName } from './deployment.ts';
import { openEmbedded } from './embedded.ts';
import type { VictimReport } from './victim-order.ts';

/** The options for opening a deployment. */
export interface DeploymentOptions {
  /** Contains a data folder for each process. */
  readonly root: string;
  /** Settings without the database and queue addresses. */
  readonly settings: object;
  readonly hear: (report: VictimReport) => void;
}

/** Prepares a deployment; no Parley process runs yet. */
export async function openDeployment(
  name: DeploymentName,
  { root, settings, hear }: DeploymentOptions,
): Promise<Deployment> {
  if (name === 'embedded') return openEmbedded(root, settings, hear);
  const { openDistributed } = await import('./distributed.ts');
  return openDistributed(root, settings, hear);
}

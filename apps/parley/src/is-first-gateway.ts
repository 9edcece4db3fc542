import type { Clock } from '@parley/contracts';
import { PROCESS_GONE_AFTER_MS, type Store } from '@parley/store';

/** Gateways that start in the same moment do not see each other yet; a lease of this length decides. In ms. */
const SAME_MOMENT_MS = 10_000;

/** Who starts, and what it shares with the others. */
export interface StartingGateway {
  readonly store: Pick<Store, 'leases' | 'processes'>;
  readonly processId: string;
  readonly clock: Clock;
}

/** Whether a deployment starts with this gateway; one that joins others, as in a rolling restart, is no start. */
export async function isFirstGateway({
  store,
  processId,
  clock,
}: StartingGateway): Promise<boolean> {
  const others = await store.processes.list(clock() - PROCESS_GONE_AFTER_MS);
  if (others.some(({ id, role }) => role !== 'worker' && id !== processId)) return false;
  const { kind } = await store.leases.acquire('boot', processId, clock(), SAME_MOMENT_MS);
  return kind === 'held';
}

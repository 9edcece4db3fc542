import type { DataFolder } from '../../data-folder.ts';
import { readStoredLog } from '../../log-reader.ts';
import { findGateway, requestGateway } from '../../running-gateway.ts';
import type { ServiceManager } from '../service/manager.ts';
import type { WatchSample } from './watch.ts';

interface SampledInstallation {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly manager: Pick<ServiceManager, 'state'>;
}

/** How long (ms) the release may take to answer. */
const ANSWER_WITHIN_MS = 4_000;
const MAX_LINES = 1_000;

/** Looks at the running release from outside. `since` is the time (ms) of the switch. */
export async function takeSample(
  { folder, env, manager }: SampledInstallation,
  { since, at }: { readonly since: number; readonly at: number },
): Promise<WatchSample> {
  const gateway = await findGateway(folder, env).catch(() => null);
  const ask = async (path: string): Promise<string | null> => {
    if (gateway === null) return null;
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = requestGateway(gateway, path, signal, {}).then((response) => response.text());
    return await answer.catch(() => null);
  };
  const health = /^(ready|degraded|down)/.exec((await ask('/readyz')) ?? '')?.[1];
  const { lines } = await readStoredLog(folder.logs, {
    level: 'error',
    after: since,
    limit: MAX_LINES,
  });
  const { restarts } = await manager.state();
  return {
    ...{ at, restarts, errorLines: lines.length },
    health: (health ?? 'silent') as WatchSample['health'],
    ...readMetrics((await ask('/metrics')) ?? ''),
  };
}

/** Reads the metrics that the watch needs; a missing one counts as zero. */
export function readMetrics(text: string) {
  const values = (name: string): readonly number[] =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    );
  const sum = (name: string) => values(name).reduce((all, one) => all + one, 0);
  const turns = sum('parley_turn_seconds_count');
  return {
    turns,
    turnMs: turns === 0 ? null : Math.round((sum('parley_turn_seconds_sum') / turns) * 1_000),
    messages: sum('parley_ingress_total'),
    deadLetters: sum('parley_dead_letters'),
    oldestMessageSeconds: Math.max(0, ...values('parley_inbox_oldest_seconds')),
    oldestPartSeconds: Math.max(0, ...values('parley_outbox_oldest_seconds')),
  };
}

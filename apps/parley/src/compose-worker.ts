import { keepMemories, type MemoryKeeper, openMedia, type TurnLimits } from '@parley/agent';
import { contextTokensOf } from '@parley/models';
import { startSweep } from '@parley/queue';
import type { RetentionBounds } from '@parley/store';
import { keepSoul, startWorker, type WorkerOptions } from '@parley/worker';
import { openSpendGuard, servedBy } from './access.ts';
import type { Parts } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import { newId } from './process-options.ts';
import { type LoadedSettings, retentionAges } from './settings.ts';

/** Turns that are under way at a shutdown get this long, then they are handed back. In ms. */
const TURN_GRACE_MS = 4_000;

/** Starts what runs turns, and leaves in `opened` how it is closed. */
export async function composeWorker(
  { loaded }: PluggedIn,
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<void> {
  const worker = await startWorker(workerOptions(loaded, parts));
  opened.defer(() => worker.close(TURN_GRACE_MS));
  opened.defer(startSoul(parts));
  opened.defer(keepRetention(parts, loaded.settings));
}

/** What the model sees of a conversation's past, where it has room for it. */
const HISTORY = { entries: 400, tokens: 24_000 };

/** What the worker of this installation is started with. */
export function workerOptions(
  loaded: Pick<LoadedSettings, 'settings' | 'channels'>,
  parts: Parts,
): WorkerOptions {
  const { settings } = loaded;
  const { shared, agent, owners, approvals, inspector, proactive, cron } = parts;
  const { model } = parts.model;
  const { prompt, sources, tools, hooks, memory, workspace, place } = agent;
  return {
    ...shared,
    ...inspector.recording,
    prompt,
    sources,
    tools,
    hooks,
    ...(memory !== undefined && { memory, ...remembersFirst(memory, agent, { shared, owners }) }),
    workspace,
    agent: place,
    newId,
    owner: parts.processId,
    ...settings.lanes,
    model,
    limits: turnLimits(settings),
    approvals,
    spendGuard: openSpendGuard(loaded, shared),
    owners,
    history: HISTORY,
    contextTokens: () => contextTokensOf(settings.model, model.id),
    media: openMedia(settings.media),
    heartbeat: proactive.rules,
    schedules: new Map([
      ['heartbeat', () => proactive.heartbeat.look()],
      ['cron', () => cron.schedule.look()],
    ]),
  };
}

/** What people said is remembered before a summary takes its place (G11). */
function remembersFirst(
  keeper: MemoryKeeper,
  { workspace, place: agent }: Parts['agent'],
  { shared, owners }: Pick<Parts, 'shared' | 'owners'>,
): Pick<WorkerOptions, 'beforeCompact'> {
  const index = shared.store.memories;
  return { beforeCompact: keepMemories({ ...shared, keeper, index, workspace, agent, owners }) };
}

/** The bounds of one turn (G01); settings count in seconds and minutes, everything else in ms. */
function turnLimits({ limits, tools }: LoadedSettings['settings']): TurnLimits {
  return {
    steps: limits.turnSteps,
    turnMs: limits.turnMinutes * 60_000,
    tokens: limits.turnTokens,
    toolMs: tools.maxSeconds * 1_000,
    outputCharacters: tools.maxCharacters,
  };
}

/** Starts to look after SOUL.md; returns a function that ends that. */
function startSoul(parts: Parts): () => Promise<void> {
  const { shared, soul, agent, owners, accounts, processId: owner } = parts;
  const { store, clock, log, lock } = shared;
  const { id, localTime } = agent.place;
  const lease = { leases: store.leases, name: `soul:${id}`, owner, clock, log };
  const keeping = keepSoul({
    ...shared,
    agent: id,
    keeper: soul.keeper,
    once:
      lock &&
      (async (work) => {
        const { whileHeld } = await import('./shared-lock.ts');
        await whileHeld(lease, work);
      }),
    settings: soul.keeper.settings,
    localTime,
    owners,
    serves: servedBy(accounts),
  });
  return () => keeping.stop();
}

const MINUTE_MS = 60_000;
/** Of the time between two steps at least so much is for everything else. */
const SHARE_OF_OTHERS = 4;
const SHORTEST_PAUSE_MS = 5;

/**
 * Removes old rows every so often, in one process of the deployment at a time and in small steps (D15); what
 * it returns ends that. Not at once: adapters that connect first hear again of what they were told before.
 */
function keepRetention(
  { shared, processId: owner }: Pick<Parts, 'shared' | 'processId'>,
  settings: LoadedSettings['settings'],
): () => Promise<void> {
  const { store, clock, log } = shared;
  const { everyMinutes, maxMegabytes } = settings.retention;
  const everyMs = everyMinutes * MINUTE_MS;
  const bytes = maxMegabytes === 'unlimited' ? Number.POSITIVE_INFINITY : maxMegabytes * 1e6;
  const bounds: RetentionBounds = { ages: retentionAges(settings), bytes };
  let isFirst = true;
  let isEnding = false;
  let isTight = false;
  const round = async (isMine: () => boolean): Promise<void> => {
    const { removed, tookMs, cutoff } = await store.retention.run(bounds, {
      clock,
      async pause(tookMs) {
        const ms = Math.max(SHORTEST_PAUSE_MS, tookMs * SHARE_OF_OTHERS);
        await new Promise((resolve) => setTimeout(resolve, ms));
        return !isEnding && isMine();
      },
    });
    if (removed > 0) log.debug({ removed, tookMs }, 'old rows were removed');
    if (cutoff !== null && !isTight) {
      const olderThan = new Date(cutoff).toISOString();
      log.warn({ maxMegabytes, olderThan, removed }, TIGHT);
    }
    isTight = cutoff !== null;
  };
  const sweep = startSweep('retention', everyMs / 10, log, async () => {
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst) return;
    const since = clock() - ((await store.retention.last())?.endedAt ?? 0);
    if (since >= 0 && since < everyMs) return;
    const { whileHeld } = await import('./shared-lock.ts');
    const lease = { leases: store.leases, name: 'retention', owner, clock, log };
    await whileHeld(lease, ({ isMine }) => round(isMine));
  });
  return async () => {
    isEnding = true;
    await sweep.stop();
  };
}

const TIGHT =
  'the database exceeds retention.maxMegabytes: the oldest rows are removed before their age';

import { keepMemories, type MemoryKeeper, openMedia } from '@parley/agent';
import { contextTokensOf } from '@parley/models';
import type { WorkerOptions } from '@parley/worker';
import { newId } from './new-id.ts';
import { openSpendGuard } from './open-access.ts';
import type { Parts } from './open-parts.ts';
import type { LoadedSettings } from './read-settings.ts';
import { turnLimits } from './turn-limits.ts';

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

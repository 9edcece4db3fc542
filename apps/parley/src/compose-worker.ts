import {
  addTracing,
  createAgentRunner,
  createCompactor,
  createHeartbeatRunner,
  createMemoryKeeper,
  createSubAgentRunner,
  createTurnRunner,
  createUnknownAgentNotice,
  createYesterdaySource,
  notifyOfSoul,
  type TurnServices,
} from '@parley/agent';
import { GIVEN_UP, renderNoticeParts } from '@parley/channels';
import { newId, type ReplyRoute } from '@parley/core';
import { getContextTokens, resolveWindow } from '@parley/models';
import { startLaneWorker, startScheduler, startSweep } from '@parley/queue';
import type { Store } from '@parley/store';
import { createServedAccountCheck, HISTORY, toSubAgentLimits, toTurnLimits } from './access.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import type { AgentsRuntime } from './agents-runtime.ts';
import { startRetention } from './keep-retention.ts';
import { isSharedStore } from './settings.ts';
import { addTurnRecording } from './watchdog/record-turns.ts';

const SWEEP_MS = 3_000;
/**
 * How long (ms) stopping a scheduler may take. Schedulers only start work such as heartbeats, so
 * they stop quickly.
 */
const SCHEDULE_GRACE_MS = 4_000;

export interface RunningWorker {
  /**
   * Stops claiming turns. Running turns may continue for `graceMs` and are then released, so that
   * they run again later. Calling `stop` again with a shorter time shortens the grace period.
   */
  stop(graceMs: number): Promise<void>;
}

/** Starts all loops that run turns. `owner` identifies this worker in leases and must be unique. */
export async function startWorker(agents: AgentsRuntime, owner: string): Promise<RunningWorker> {
  const { shared, cron, loaded } = agents;
  const { store, turns: queue, bus, clock, monotonic, log } = shared;
  const { concurrency, ...lanes } = loaded.settings.lanes;
  const main = startAgent(agents, agents.main);
  const others = [...agents.named].map(([name, own]) => [name, startAgent(agents, own)] as const);
  const running = [main, ...others.map(([, one]) => one)];
  const runs = new Map([
    [undefined, main.run],
    ...others.map(([name, { run }]) => [name, run] as const),
  ]);
  const runTurn = createAgentRunner(runs, main.runWithout);
  const worker = await startLaneWorker(
    {
      lanes: store.lanes,
      runTurn: addTurnRecording(shared.work, addTracing(shared, runTurn, loaded.settings.agent.id)),
      work: shared.work,
      notifyGivenUp: createAbandonedMessageNotifier(shared),
      ...lanes,
      owner,
      clock,
      monotonic,
      newId,
      log,
    },
    { queue, bus, concurrency, sweepMs: SWEEP_MS },
  );
  const schedules = new Map([
    ['heartbeat', () => runSchedules(running.map(({ runDue }) => runDue))],
    ['cron', () => cron.runDue()],
  ]);
  const scheduler = startScheduler({ schedules, bus, clock, log });
  const sweeps = [
    expireApprovals(agents),
    ...agents.all.map((own) => startSoulMaintenance(agents, own)),
    startRetention(agents),
  ];
  const end = async (turnsEnded: Promise<void>): Promise<void> => {
    await Promise.all([scheduler.close(SCHEDULE_GRACE_MS), ...sweeps.map((stop) => stop())]);
    await turnsEnded;
    await Promise.all(running.map(({ close }) => close()));
  };
  let ending: Promise<void> | undefined;
  return {
    async stop(graceMs) {
      const turnsEnded = worker.close(graceMs);
      ending ??= end(turnsEnded);
      await Promise.all([turnsEnded, ending]);
    },
  };
}

/**
 * Creates a function that notifies a chat about abandoned messages, whose turns ended the process
 * too often.
 */
function createAbandonedMessageNotifier({ store, clock, deliver }: AgentsRuntime['shared']) {
  return async (route: ReplyRoute): Promise<void> => {
    await store.outbox.enqueue(renderNoticeParts(GIVEN_UP, route), clock());
    await deliver(route.channel, route.account, route.chatId);
  };
}

/**
 * Runs the turns of one agent. `runWithout` handles turns of agents that are missing from the
 * settings.
 */
function startAgent(agents: AgentsRuntime, own: AgentRuntime) {
  const services = createTurnServices(agents, own);
  const summing = { ...services, ...createSummaryServices(agents, own) };
  const compactor = createCompactor(summing);
  const yesterday = createYesterdaySource(summing);
  const deps = { ...services, compactor, sources: [...own.agent.sources, yesterday] };
  const runWith = (with_: TurnServices) =>
    createHeartbeatRunner(with_, createSubAgentRunner(with_, createTurnRunner(with_)));
  return {
    run: runWith(deps),
    runWithout: (id: string) => runWith({ ...services, unavailable: createUnknownAgentNotice(id) }),
    runDue: () => own.proactive.heartbeat.runDue(),
    close: async () => void (await Promise.all([compactor.close(), yesterday.close()])),
  };
}

/**
 * Runs every schedule even if one fails, and then rejects with the first error. Resolves to the
 * earliest time at which a schedule is due again, or to null.
 */
async function runSchedules(
  schedules: readonly (() => Promise<number | null>)[],
): Promise<number | null> {
  const ran = await Promise.allSettled(schedules.map((runDue) => runDue()));
  const failed = ran.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  const times = ran.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
  return times.length === 0 ? null : Math.min(...times);
}

export function createTurnServices(
  agents: AgentsRuntime,
  own: AgentRuntime = agents.main,
): TurnServices {
  const { shared, loaded } = agents;
  const { settings, store, media, owners, approvals, proactive, spendGuard } = own;
  const { model, choices } = own.model;
  const { prompt, sources, tools, hooks, memory, workspace, place } = own.agent;
  return {
    ...shared,
    ...(loaded.settings.inspector.keepDays > 0 && { prompts: shared.store.prompts }),
    store,
    prompt,
    sources,
    tools,
    hooks,
    ...(memory !== undefined && { memory }),
    workspace,
    agent: place,
    newId,
    busy: loaded.settings.lanes.busy,
    model,
    modelChoices: choices,
    limits: toTurnLimits(settings),
    modelAwayMs: settings.limits.modelAwayMinutes * 60_000,
    subAgentLimits: toSubAgentLimits(settings),
    approvals,
    spendGuard,
    owners,
    history: HISTORY,
    contextTokens: () => resolveWindow(model, getContextTokens(settings.model, model.id)),
    media,
    heartbeat: proactive.rules,
    wake: (conversationId) => shared.turns.wake(conversationId),
  };
}

/**
 * Creates the services for summaries. Summaries are not requested by a person, so they count only
 * toward the daily total (G17).
 */
function createSummaryServices({ shared }: AgentsRuntime, { agent, owners, store }: AgentRuntime) {
  const { clock } = shared;
  const { memory, workspace, place } = agent;
  const { localTime } = place;
  return {
    localTime,
    charge: (used: Parameters<Store['spend']['add']>[1]): Promise<void> =>
      store.spend.add(
        { day: localTime(clock()).date, personId: '', groupId: null, agent: place.name },
        used,
      ),
    // People's messages are saved to memory before a summary replaces them (G11).
    ...(memory !== undefined && {
      beforeCompact: createMemoryKeeper({
        ...{ ...shared, store, service: memory, workspace, agent: place, owners },
        index: store.memories,
      }),
    }),
  };
}

/** People take minutes to answer, so approval requests may be closed up to ten seconds late. */
const APPROVALS_INTERVAL_MS = 10_000;

/**
 * Closes expired approval requests, including those that expired while no process was running
 * (G05), and wakes their turns. If a wake-up is lost, the periodic sweep of lanes finds the turn.
 */
function expireApprovals({
  shared: { store, turns, clock, log },
}: AgentsRuntime): () => Promise<void> {
  const sweep = startSweep('old approvals', APPROVALS_INTERVAL_MS, log, async () => {
    for (const id of await store.approvals.expire(clock())) await turns.wake(id);
  });
  return () => sweep.stop();
}

const SOUL_INTERVAL_MS = 5_000;

/**
 * Evaluates proposals for SOUL.md and applies those whose veto period is over. Notifies the owner
 * (W06), including about changes that happened while Parley was not running.
 */
function startSoulMaintenance(
  { shared, accounts, loaded, processId: owner }: AgentsRuntime,
  { soul, agent, owners }: AgentRuntime,
): () => Promise<void> {
  const { store, clock, monotonic, log } = shared;
  const { service } = soul;
  const { id, name: agentName, localTime } = agent.place;
  const { settings } = service;
  const notices = {
    ...{ ...shared, agent: id, agentName, settings, localTime, owners },
    serves: createServedAccountCheck(accounts),
  };
  const ending = new AbortController();
  // Evaluation calls a model, which costs money, so only one worker evaluates proposals. Several
  // workers may do the other steps at the same time without harm.
  const evaluate = async (): Promise<void> => {
    if (!isSharedStore(loaded.settings)) return service.evaluate(ending.signal);
    const { runWithLease } = await import('./shared-lock.ts');
    const lease = { leases: store.leases, name: `soul:${id}`, owner, clock, monotonic, log };
    await runWithLease(lease, () => service.evaluate(ending.signal));
  };
  const sweep = startSweep('soul', SOUL_INTERVAL_MS, log, async () => {
    if (await service.isIdle(clock())) return;
    await service.syncFromDisk();
    await evaluate();
    await service.applyDue(clock());
    await notifyOfSoul(notices);
  });
  return async () => {
    // Models can be slow, so evaluation is aborted on shutdown; the next start evaluates the
    // remaining proposals.
    ending.abort();
    await sweep.stop();
  };
}

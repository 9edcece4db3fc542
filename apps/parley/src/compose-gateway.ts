import { bootOfMachine, openSendNotes } from '@parley/channels';
import { type Clock, countOf, reasonOf } from '@parley/core';
import {
  type Gateway,
  type GatewayOptions,
  startGateway,
  startHealthServer,
} from '@parley/gateway';
import type { AuditReport } from '@parley/gateway/api';
import { PROCESS_GONE_AFTER_MS, type Store } from '@parley/store';
import type { PromptFiles } from '@parley/workspace';
import { skillCommandsOf } from './agent-sources.ts';
import { commandLine } from './data-folder.ts';
import type { Parts } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import { cronPage, startBoot } from './proactive.ts';
import { newId, type OpenLog, type StartOptions } from './process-options.ts';
import { isShared, type LoadedSettings } from './settings.ts';
import { soulPage } from './soul.ts';

/** Sends that are under way at a shutdown, after the turns, get this long. In ms. */
const SEND_GRACE_MS = 3_000;

/** Starts the channels and the web server, and leaves in `opened` how they are closed. */
export async function composeGateway(
  options: StartOptions & OpenLog,
  plugged: PluggedIn,
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<Gateway> {
  const { folder, clock, log } = options;
  const boot = bootOfMachine();
  const sendNotes =
    boot === undefined ? undefined : openSendNotes(folder.sendNotes, boot, { now: clock(), log });
  opened.defer(() => sendNotes?.close());
  const audit = () => auditHere({ ...options, ...parts.shared, ...parts.agent }, plugged.loaded);
  const gateway = await startGateway({
    ...gatewayOptions(options, plugged, parts),
    sendNotes,
    audit,
  });
  opened.defer(() => gateway.close(SEND_GRACE_MS));
  const { processId, shared, agent, accounts, owners } = parts;
  const among = isShared(plugged.loaded.settings) ? { processId } : null;
  opened.defer(startBoot({ ...shared, ...agent, accounts, owners, newId, shared: among }));
  opened.defer(startAudit(audit, options));
  return gateway;
}

function gatewayOptions(
  options: StartOptions & OpenLog,
  { loaded, report: plugins }: Pick<PluggedIn, 'loaded' | 'report'>,
  parts: Parts,
): GatewayOptions {
  const { folder, clock, secrets, token, port, role, onState, onRestore } = options;
  const { settings } = loaded;
  const { media, http } = settings;
  const { idleHours, longestDays } = http.sessions;
  const { processId, shared, accounts, agent, model, mcp, scrape } = parts;
  const { inspector, soul, cron } = parts;
  const { heartbeat } = parts.proactive;
  return {
    ...shared,
    page: async () => (await import('@parley/console')).createConsole(),
    random: Math.random,
    scrub: secrets.scrub,
    ...(onState === undefined ? {} : { onState }),
    media: {
      fileBytes: media.maxFileMb * MEGABYTE,
      messageBytes: media.maxMessageMb * MEGABYTE,
      keptBytes: media.maxKeptMb * MEGABYTE,
    },
    situation: () => ({ agentName: agent.name, model: model.line() }),
    skillCommands: skillCommandsOf(agent.skills),
    commandServices: {
      memory: agent.memoryCommands?.show,
      forget: agent.memoryCommands?.forget,
      soul: soul.command,
      heartbeat: (...asked) => heartbeat.answer(...asked),
      statusLine: () => heartbeat.line(),
    },
    soul: soulPage(soul.service, agent.place.localTime),
    accounts,
    ...(isShared(settings) && { sharedAs: processId }),
    http: {
      host: http.host,
      port: port ?? http.port,
      token,
      sessions: { idleMs: idleHours * HOUR_MS, longestMs: longestDays * 24 * HOUR_MS },
    },
    metrics: scrape,
    ...(role === 'gateway' && { workers: () => liveWorkers(shared.store, clock) }),
    report: async () => {
      const { statusReport } = await import('./status-report.ts');
      const facts = { agent: agent.name, model: model.line(), dataFolder: folder.path, plugins };
      const { localTime } = agent.place;
      return statusReport({ ...facts, mcp: mcp.lines() }, shared.store, clock, localTime);
    },
    inspector: inspector.shown,
    heartbeat,
    cron: cronPage(cron, settings, { ...shared, accounts, owners: parts.owners }),
    // Where several processes share a database, the restore command does it without them.
    ...(!isShared(settings) && { restore: onRestore }),
  };
}

async function liveWorkers(store: Pick<Store, 'processes'>, clock: Clock): Promise<number> {
  const running = await store.processes.list(clock() - PROCESS_GONE_AFTER_MS);
  return running.filter(({ role }) => role !== 'gateway').length;
}

/** Settings count in hours, days and megabytes, everything else in ms and bytes. */
const HOUR_MS = 60 * 60_000;
const MEGABYTE = 1_024 * 1_024;

/** Channels are connected by then; nothing waits for the audit. In ms. */
const AFTER_START_MS = 5_000;

interface AuditHere extends Pick<StartOptions, 'folder' | 'env' | 'clock'> {
  readonly store: Pick<Store, 'audit'>;
  readonly promptFiles: PromptFiles;
}

/** The audit of the installation of this process (U05); its code is loaded when it is used. */
export async function auditHere(here: AuditHere, loaded: LoadedSettings): Promise<AuditReport> {
  const { folder, env, clock, store, promptFiles } = here;
  const [{ auditOf, countsOf }, { gatherFacts }] = await Promise.all([
    import('./commands/audit/audit.ts'),
    import('./commands/audit/facts.ts'),
  ]);
  const isPromptFile = (path: string) => promptFiles.includes(path);
  const now = clock();
  const findings = auditOf(await gatherFacts({ folder, env, loaded, store, isPromptFile, now }));
  return { at: now, counts: countsOf(findings), findings };
}

/** Audits once, a little after the start, and logs the short form; returns a function that cancels it. */
export function startAudit(
  audit: () => Promise<AuditReport>,
  { folder, log }: Pick<StartOptions & OpenLog, 'folder' | 'log'>,
  afterMs = AFTER_START_MS,
): () => void {
  const timer = setTimeout(async () => {
    try {
      const { counts, findings } = await audit();
      for (const { id, severity, found, remedy } of findings) {
        if (severity === 'critical') log.error({ check: id, remedy }, `audit: ${found}`);
      }
      if (counts.warning === 0) return;
      log.warn(
        {},
        `audit: ${countOf(counts.warning, 'warning')}, run "${commandLine('audit', folder)}"`,
      );
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'audit: it could not be done');
    }
  }, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Starts the web server of a worker, which serves its health and metrics, and leaves in `opened` how it is closed. */
export async function composeHealth(
  { log, secrets, token, port, clock }: StartOptions & OpenLog,
  http: LoadedSettings['settings']['http'],
  { shared: { store, turns }, scrape }: Parts,
  opened: AsyncDisposableStack,
): Promise<{ readonly address: string }> {
  const server = await startHealthServer({
    host: http.host,
    port: port ?? http.port,
    token,
    clock,
    log,
    scrub: secrets.scrub,
    metrics: async (health) => scrape([], await health()),
    ping: () => store.ping(),
    pingQueue: () => turns.depth(),
  });
  opened.defer(() => server.close());
  return server;
}

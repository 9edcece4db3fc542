import { bootOfMachine, openSendNotes } from '@parley/channels';
import { type Clock, reasonOf } from '@parley/contracts';
import {
  type Gateway,
  type GatewayOptions,
  startGateway,
  startHealthServer,
} from '@parley/gateway';
import { PROCESS_GONE_AFTER_MS, type Store } from '@parley/store';
import type { PromptFiles } from '@parley/workspace';
import { skillCommandsOf } from './agent-sources.ts';
import { commandLine } from './data-folder.ts';
import type { Parts } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import { cronPage, startBoot } from './proactive.ts';
import type { StartOptions } from './process-options.ts';
import { newId, type OpenLog } from './process-options.ts';
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
  const gateway = await startGateway({ ...gatewayOptions(options, plugged, parts), sendNotes });
  opened.defer(() => gateway.close(SEND_GRACE_MS));
  const { processId, shared, agent, accounts, owners } = parts;
  const among = isShared(plugged.loaded.settings) ? { processId } : null;
  opened.defer(startBoot({ ...shared, ...agent, accounts, owners, newId, shared: among }));
  opened.defer(startAudit(auditDeps(options, plugged, parts)));
  return gateway;
}

/** What the gateway of this installation is started with. */
function gatewayOptions(
  options: StartOptions & OpenLog,
  { loaded, report: plugins }: Pick<PluggedIn, 'loaded' | 'report'>,
  parts: Parts,
): GatewayOptions {
  const { folder, clock, secrets, token, port, role, onState, onRestore } = options;
  const { settings } = loaded;
  const { processId, shared, accounts, agent, model, mcp, scrape } = parts;
  const { inspector, soul, proactive, cron } = parts;
  return {
    ...shared,
    page: async () => (await import('@parley/console')).createConsole(),
    random: Math.random,
    scrub: secrets.scrub,
    ...(onState === undefined ? {} : { onState }),
    media: mediaLimits(settings.media),
    situation: () => ({ agentName: agent.name, model: model.line() }),
    skillCommands: skillCommandsOf(agent.skills),
    desks: desksOf({ agent, soul, proactive }),
    soul: soulPage(soul.keeper, agent.place.localTime),
    accounts,
    ...(isShared(settings) && { sharedAs: processId }),
    http: {
      host: settings.http.host,
      port: port ?? settings.http.port,
      token,
      sessions: sessionLimits(settings.http.sessions),
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
    heartbeat: proactive.desk,
    cron: cronPage(cron),
    audit: () => auditHere(auditDeps(options, { loaded }, parts)),
    // Where several processes share a database, whoever restores does it beside them.
    ...(!isShared(settings) && { restore: onRestore }),
  };
}

async function liveWorkers(store: Pick<Store, 'processes'>, clock: Clock): Promise<number> {
  const running = await store.processes.list(clock() - PROCESS_GONE_AFTER_MS);
  return running.filter(({ role }) => role !== 'gateway').length;
}

/** Who answers the commands about memory, soul and standing tasks. */
function desksOf({
  agent: { memoryCommands },
  soul,
  proactive: { desk },
}: Pick<Parts, 'agent' | 'soul' | 'proactive'>): GatewayOptions['desks'] {
  return {
    memory: memoryCommands?.show,
    forget: memoryCommands?.forget,
    soul: soul.command.answer,
    heartbeat: desk.answer,
    statusLine: desk.line,
  };
}

/** The settings count in hours and days, everything else in milliseconds. */
function sessionLimits({
  idleHours,
  longestDays,
}: LoadedSettings['settings']['http']['sessions']): GatewayOptions['http']['sessions'] {
  const hour = 60 * 60_000;
  return { idleMs: idleHours * hour, longestMs: longestDays * 24 * hour };
}

/** The settings count in megabytes, everything else in bytes. */
function mediaLimits(media: LoadedSettings['settings']['media']): GatewayOptions['media'] {
  const bytes = 1_024 * 1_024;
  return {
    fileBytes: media.maxFileMb * bytes,
    messageBytes: media.maxMessageMb * bytes,
    keptBytes: media.maxKeptMb * bytes,
  };
}

/** What the installation of this process is audited with. */
function auditDeps(
  { folder, env, clock, log }: StartOptions & OpenLog,
  { loaded }: Pick<PluggedIn, 'loaded'>,
  { shared, agent }: Pick<Parts, 'shared' | 'agent'>,
): AuditHereDeps {
  const { promptFiles } = agent;
  return { folder, env, clock, log, loaded, store: shared.store, promptFiles };
}

/** Channels are connected by then, and nobody waits for the audit. In ms. */
const AFTER_START_MS = 5_000;

/** What auditing the installation of this process needs. */
interface AuditHereDeps extends Pick<StartOptions & OpenLog, 'folder' | 'env' | 'clock' | 'log'> {
  readonly loaded: LoadedSettings;
  readonly store: Pick<Store, 'audit'>;
  readonly promptFiles: PromptFiles;
}

/** The audit of the installation of this process (U05); its code is loaded when it is used. */
async function auditHere({ folder, env, clock, loaded, store, promptFiles }: AuditHereDeps) {
  const [{ auditOf, countsOf }, { gatherFacts }] = await Promise.all([
    import('./commands/audit.ts'),
    import('./audit/facts.ts'),
  ]);
  const isPromptFile = (path: string) => promptFiles.includes(path);
  const now = clock();
  const findings = auditOf(await gatherFacts({ folder, env, loaded, store, isPromptFile, now }));
  return { at: now, counts: countsOf(findings), findings };
}

/** Audits once, a little after the start, and logs the short form; returns a function that cancels it. */
export function startAudit(deps: AuditHereDeps, afterMs = AFTER_START_MS): () => void {
  const { folder, log } = deps;
  const timer = setTimeout(async () => {
    try {
      const { counts, findings } = await auditHere(deps);
      for (const { id, severity, found, remedy } of findings) {
        if (severity === 'critical') log.error({ check: id, remedy }, `audit: ${found}`);
      }
      if (counts.warning === 0) return;
      const count = `${counts.warning} warning${counts.warning === 1 ? '' : 's'}`;
      log.warn({}, `audit: ${count}, run "${commandLine('audit', folder)}"`);
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

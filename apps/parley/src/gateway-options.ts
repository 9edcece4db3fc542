import type { Clock } from '@parley/contracts';
import type { GatewayOptions } from '@parley/gateway';
import { PROCESS_GONE_AFTER_MS, type Store } from '@parley/store';
import { cronPage } from './cron-page.ts';
import type { OpenLog } from './open-log.ts';
import type { Parts } from './open-parts.ts';
import { skillCommandsOf } from './open-skills.ts';
import type { PluggedIn } from './plug-in.ts';
import { isShared } from './process-role.ts';
import type { LoadedSettings } from './read-settings.ts';
import { soulPage } from './soul-page.ts';
import { type AuditHereDeps, auditHere } from './start-audit.ts';
import type { StartOptions } from './start-parley.ts';
import { statusReport } from './status-report.ts';

/** What the gateway of this installation is started with. */
export function gatewayOptions(
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
    report: () => {
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
  agent: { memoryDesk },
  soul,
  proactive: { desk },
}: Pick<Parts, 'agent' | 'soul' | 'proactive'>): GatewayOptions['desks'] {
  return {
    memory: memoryDesk?.show,
    forget: memoryDesk?.forget,
    soul: soul.desk.answer,
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
export function auditDeps(
  { folder, env, clock, log }: StartOptions & OpenLog,
  { loaded }: Pick<PluggedIn, 'loaded'>,
  { shared, agent }: Pick<Parts, 'shared' | 'agent'>,
): AuditHereDeps {
  const { promptFiles } = agent;
  return { folder, env, clock, log, loaded, store: shared.store, promptFiles };
}

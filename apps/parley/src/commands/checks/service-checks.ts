import { type ChannelProbe, measureClockSkew, type ProbeEnv } from '@parley/channels/probe';
import { describeDefects, pluralize } from '@parley/core';
import type { AccountStatus } from '@parley/gateway';
import { listConfiguredModels, type ModelProbe, probeProvider } from '@parley/models/probe';
import { probeRedis } from '@parley/queue/probe';
import { findNearestWord } from '@parley/settings';
import { formatChannelLine } from '../../banner.ts';
import { withStore } from '../../cli.ts';
import { formatCommandLine } from '../../data-folder.ts';
import { assertDatabaseNotLost } from '../../database-mark.ts';
import { type ChosenAgent, type LoadedSettings, listAgents } from '../../settings.ts';
import {
  type Check,
  type CheckFinding,
  createFailureFinding,
  defineDoctorCheck,
  failed,
  ok,
  skipped,
  warning,
} from './check.ts';
import type { FactsFor } from './facts.ts';
import type { ExaminedBase } from './installation.ts';

/** Checks of the servers that the installation uses. */
export const SERVICE_CHECKS: readonly Check[] = [
  defineDoctorCheck(['settings', 'network'], {
    id: 'model',
    title: 'Every configured model answers; the check fails if the main model does not.',
    run: listModelCheckParts,
  }),
  defineDoctorCheck(['settings', 'config', 'gateway', 'schema', 'network'], {
    id: 'channel',
    title: 'Every account works, and the running gateway is connected to it.',
    run: listChannelCheckParts,
  }),
  defineDoctorCheck(['settings', 'schema', 'gateway'], {
    id: 'database',
    title: 'The database is undamaged, has a known schema, and can be read and written.',
    run: checkDatabase,
  }),
  defineDoctorCheck(['settings', 'network'], {
    id: 'queue',
    title:
      'If Redis is configured, it answers, is recent enough, and does not evict keys when it is full.',
    async run({ settings: { queue } }, signal) {
      const { url } = queue;
      if (url === undefined) return [ok('in memory; each start fills it from the database')];
      const { host } = new URL(url);
      const probe = await probeRedis({ ...queue, url }, signal);
      if (probe.kind === 'problem') {
        const advice =
          'Check that Redis is running there, and that queue.url and the user and password in the settings are correct.';
        return [failed(`Redis at ${host} cannot be used: ${probe.reason}`, advice)];
      }
      const advice = "Change this in Redis's configuration.";
      if (probe.complaints.length > 0) return probe.complaints.map((text) => warning(text, advice));
      return [ok(`Redis ${probe.version} at ${host}`)];
    },
  }),
];

type ModelCheckFacts = FactsFor<'settings' | 'network'>;

/**
 * Returns one part for each model that agents use; the part for the default agent's model has no
 * name (F14).
 */
function listModelCheckParts(facts: ModelCheckFacts) {
  const agentsOf = new Map<string, ChosenAgent[]>();
  for (const one of listAgents(facts.loaded)) {
    const key = JSON.stringify(one.settings.model);
    agentsOf.set(key, [...(agentsOf.get(key) ?? []), one]);
  }
  return [...agentsOf.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const names = [first, ...more].map(({ settings }) => settings.agent.id).join(', ');
    return async (signal: AbortSignal) => {
      const found = await checkModel(facts, first.settings, signal);
      if (first.name === undefined) return found;
      return found.map(({ subject, ...finding }) => ({
        ...finding,
        subject: subject === undefined ? names : `${subject} (${names})`,
      }));
    };
  });
}

async function checkModel(
  { env, clock, monotonic, clocks, folder }: ModelCheckFacts,
  { model }: LoadedSettings['settings'],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const choices = await listConfiguredModels(model, { ollamaHost: env.OLLAMA_HOST });
  const findings = choices.map(async (choice, at): Promise<readonly CheckFinding[]> => {
    if (choice === 'offline') {
      if (at > 0) return [];
      if (model.model === 'offline') return [ok('the built-in test model answers, as configured')];
      const advice = `Uncomment "model" in ${folder.settingsFile}, or start a local model server such as Ollama.`;
      return [warning('no language model is connected, and no local server was found', advice)];
    }
    const probe = await probeProvider(choice, { signal, clock, monotonic });
    const { time, server } = probe;
    const reading = time === null ? null : measureClockSkew(server, time.date, time);
    if (reading !== null) clocks.push(reading);
    return [{ ...toModelFinding(probe, choice.model, at > 0), subject: probe.id }];
  });
  return (await Promise.all(findings)).flat();
}

const MAX_NAMED = 5;

function toModelFinding(probe: ModelProbe, wanted: string, isOther: boolean): CheckFinding {
  const { server, models } = probe;
  if (probe.kind === 'works') {
    const offers = models === null ? '' : `; it offers ${pluralize(models.length, 'model')}`;
    return ok(`answered at ${server} in ${(probe.tookMs / 1_000).toFixed(1)} s${offers}`);
  }
  const others = models === null || models.includes(wanted) ? [] : models;
  const close = findNearestWord(wanted, others);
  const named = [...new Set([...(close === undefined ? [] : [close]), ...others])];
  const more = named.length > MAX_NAMED ? ' and more' : '';
  const offer =
    named.length === 0 ? '' : ` The server offers ${named.slice(0, MAX_NAMED).join(', ')}${more}.`;
  const result = isOther ? warning : failed;
  return result(probe.reason, `${probe.fix}${offer}`.trim() || 'Try again later.');
}

/** The web page and the terminal are always available, and the port check covers them. */
const LOCAL: ReadonlySet<string> = new Set(['web', 'terminal']);

type ChannelCheckFacts = FactsFor<'settings' | 'config' | 'gateway' | 'schema' | 'network'>;

function listChannelCheckParts(facts: ChannelCheckFacts) {
  return Object.values(facts.channels).flatMap((one) => {
    if (one.kind === 'disabled' || LOCAL.has(one.channel)) return [];
    const subject = one.account === 'default' ? one.channel : `${one.channel}/${one.account}`;
    return async (signal: AbortSignal) => {
      if (one.kind === 'broken') {
        return [{ ...skipped('its settings are invalid; see above'), subject }];
      }
      const found = await checkAccount(facts, one, signal);
      return found.map((finding) => ({ ...finding, subject }));
    };
  });
}

type ConfiguredAccount = Extract<LoadedSettings['channels'][string], { kind: 'ok' }>;

async function checkAccount(
  facts: ChannelCheckFacts,
  one: ConfiguredAccount,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const probe = await probeAccount(facts, one, signal);
  if (facts.gateway.kind !== 'runs') return toChannelFindings(probe, null);
  const { channel, account } = one;
  const served = facts.gateway.status.channels.find(
    (status) => status.channel === channel && status.account === account,
  );
  const found = toChannelFindings(probe, served?.state ?? 'not-served');
  // Violations of the adapter contract are reported even when messages still get through.
  if (served?.defects === undefined) return found;
  const advice = 'Report it to the author of this channel, or update or remove it.';
  return [...found, warning(`its adapter has ${describeDefects(served.defects)}`, advice)];
}

async function probeAccount(
  { folder, env, clock, clocks, database, gateway, definitions }: ChannelCheckFacts,
  { channel, account, settings }: ConfiguredAccount,
  signal: AbortSignal,
): Promise<ChannelProbe> {
  const definition = definitions.find(({ id }) => id === channel);
  if (definition?.probe === undefined)
    return { kind: 'unknown', reason: 'this channel reports its state only while Parley runs' };
  const hasValues = database.kind === 'seen' && database.state.kind === 'current';
  const get: NonNullable<ProbeEnv['values']>['get'] = (kind, ids) =>
    hasValues
      ? withStore({ folder, env }, (store) => store.adapterValues(channel, account).get(kind, ids))
      : Promise.resolve(new Map());
  const values = gateway.kind === 'none' ? { get } : null;
  const probe = await definition.probe(settings, { signal, clock, values });
  if (probe.kind === 'works' && probe.clock !== null) clocks.push(probe.clock);
  return probe;
}

/** The account state reported by the running gateway; null if no gateway is running. */
type AccountState = AccountStatus['state'] | 'not-served' | null;

/** Returns the worse of two reports: one from the platform, one from the running gateway. */
function toChannelFindings(probe: ChannelProbe, state: AccountState): readonly CheckFinding[] {
  const line = typeof state === 'object' && state !== null ? formatStateLine(state) : null;
  const works = state !== null && typeof state === 'object' && WORKS.has(state.kind);
  if (probe.kind === 'problem') {
    const { reason, fix, retryable } = probe;
    if (!works || !retryable) return [failed(reason, fix)];
    return [warning(`${reason}; the running gateway reports: ${line}`, fix)];
  }
  const trouble = findStateProblem(state);
  if (trouble !== null) return [trouble];
  if (probe.kind === 'unlinked') return [warning(probe.reason, probe.fix)];
  if (probe.kind === 'unknown') return [line === null ? skipped(probe.reason) : ok(line)];
  const { as, warnings } = probe;
  if (warnings.length > 0) return warnings.map(({ reason, fix }) => warning(reason, fix));
  return [ok(line ?? `the platform answers; the bot is ${as}`)];
}

const WORKS: ReadonlySet<string> = new Set(['connected', 'standby', 'starting']);

/** A linking code is secret, so `formatChannelLine` does not include it. */
function formatStateLine(state: AccountStatus['state']): string {
  return formatChannelLine({ channel: '', account: '', state });
}

function findStateProblem(state: AccountState): CheckFinding | null {
  if (state === null) return null;
  if (state === 'not-served') {
    const advice =
      'If you have just added this account, check again in a few seconds. Otherwise, restart Parley.';
    return warning('the running gateway does not serve this account', advice);
  }
  switch (state.kind) {
    case 'failed':
      return failed(state.reason, state.fix);
    case 'retrying':
      return warning(formatStateLine(state), 'Parley keeps trying; the log has details.');
    case 'pairing': {
      const advice = 'Enter the code on the phone. The page and "parley status" show it.';
      return warning('the account is waiting to be linked', advice);
    }
    case 'stopped':
      return warning('it is stopped', 'Restart Parley.');
    default:
      return null;
  }
}

async function checkDatabase(
  facts: FactsFor<'settings' | 'schema' | 'gateway'>,
): Promise<readonly CheckFinding[]> {
  const { folder, database, gateway, settings } = facts;
  if (database.kind === 'failed') return [createFailureFinding(database.error)];
  const { kind, dialect, name, bytes } = database.state;
  const size = bytes === null || bytes === 0 ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`;
  const what = `${dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${name}${size}`;
  if (kind === 'absent') {
    assertDatabaseNotLost(folder, settings);
    return [ok(`${what}: it does not exist yet; the first start creates it`)];
  }
  if (kind === 'behind') {
    const advice = `You do not need to do anything: the next start upgrades the schema. If you may want to go back, make a backup first: ${formatCommandLine('backup FILE', folder)}`;
    return [warning(`${what}: its schema is from an older version of Parley`, advice)];
  }
  if (gateway.kind === 'runs') {
    const { trouble } = gateway.status;
    if (trouble === undefined) {
      const advice = `See docs/deploy.md and docs/retention.md, and "${formatCommandLine('dead list', folder)}".`;
      const notes = (gateway.status.notes ?? []).map((note) => warning(note, advice));
      const works = ok(`${what}; the running gateway reads and writes it`);
      return [works, ...notes, ...(await checkStoredFiles(facts))];
    }
    return [failed(trouble, `Then run "${formatCommandLine('status', folder)}" again.`)];
  }
  if (gateway.kind === 'silent') return [ok(`${what}; the schema is current`)];
  await withStore(facts, (store) => store.ping());
  return [ok(`${what}; it can be read and written`), ...(await checkStoredFiles(facts))];
}

/** Files are stored separately from their messages' database rows, so they can be missing. */
async function checkStoredFiles(installation: ExaminedBase): Promise<readonly CheckFinding[]> {
  const missing = await withStore(installation, (store) => store.files.missing());
  if (missing === 0) return [];
  const found = `${pluralize(missing, 'file')} of messages ${missing === 1 ? 'is' : 'are'} missing or incomplete`;
  const advice =
    'Ask the senders to send them again, or restore a backup that contains them. Until then, the agent says that it cannot read them. Files are kept for a day, so this warning disappears without any action.';
  return [warning(found, advice)];
}

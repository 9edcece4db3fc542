import type { ChannelDefinition } from '@parley/channels';
import { type ChannelProbe, type ProbeEnv, readClock } from '@parley/channels/probe';
import { countOf, defectsText } from '@parley/core';
import type { AccountStatus } from '@parley/gateway';
import { configuredModels, type ModelProbe, probeProvider } from '@parley/models/probe';
import { probeRedis } from '@parley/queue/probe';
import { nearestWord } from '@parley/settings';
import { channelLine } from '../../banner.ts';
import { withStore } from '../../cli.ts';
import { commandLine } from '../../data-folder.ts';
import { refuseLostDatabase } from '../../database-mark.ts';
import { allAgents, type ChosenAgent, type LoadedSettings } from '../../settings.ts';
import { type Check, type Finding, failed, failure, ok, skipped, warning } from './check.ts';
import type { Situation } from './situation.ts';

/** What the installation talks to; nothing of it is checked where the settings are invalid. */
export function serviceChecks(situation: Situation): readonly Check[] {
  const { loaded } = situation;
  if (loaded === null) return [];
  return [
    ...modelChecks(situation, loaded),
    ...channelChecks(situation, loaded),
    { name: 'database', run: () => databaseFindings(situation) },
    { name: 'queue', run: (signal) => queueFindings(loaded, signal) },
  ];
}

/** One for each model that agents use; that of the default agent says no name (F14). */
function modelChecks(situation: Situation, loaded: LoadedSettings): readonly Check[] {
  const asked = new Map<string, ChosenAgent[]>();
  for (const one of allAgents(loaded)) {
    const key = JSON.stringify(one.settings.model);
    asked.set(key, [...(asked.get(key) ?? []), one]);
  }
  return [...asked.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const names = [first, ...more].map(({ settings }) => settings.agent.id).join(', ');
    const run = async (signal: AbortSignal) => {
      const found = await modelFindings(situation, first.settings, signal);
      if (first.name === undefined) return found;
      return found.map(({ subject, ...finding }) => ({
        ...finding,
        subject: subject === undefined ? names : `${subject} (${names})`,
      }));
    };
    return [{ name: 'model', run }];
  });
}

async function modelFindings(
  { env, clock, monotonic, clocks, folder }: Situation,
  { model }: LoadedSettings['settings'],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const choices = await configuredModels(model, { ollamaHost: env.OLLAMA_HOST });
  const findings = choices.map(async (choice, at): Promise<readonly Finding[]> => {
    if (choice === 'offline') {
      if (at > 0) return [];
      if (model.model === 'offline') return [ok('the built-in one answers, as configured')];
      const fix = `Uncomment "model" in ${folder.settingsFile}, or start a local server such as Ollama.`;
      return [warning('no language model is connected, and no local server was found', fix)];
    }
    const probe = await probeProvider(choice, { signal, clock, monotonic });
    const { time, server } = probe;
    const reading = time === null ? null : readClock(server, time.date, time);
    if (reading !== null) clocks.push(reading);
    return [modelFinding(probe, choice.model, at > 0)];
  });
  return (await Promise.all(findings)).flat();
}

const MAX_NAMED = 5;

function modelFinding(probe: ModelProbe, wanted: string, isOther: boolean): Finding {
  const { id, server, models } = probe;
  if (probe.kind === 'works') {
    const offers = models === null ? '' : `; it offers ${countOf(models.length, 'model')}`;
    return ok(`answered at ${server} in ${(probe.tookMs / 1_000).toFixed(1)} s${offers}`, id);
  }
  const others = models === null || models.includes(wanted) ? [] : models;
  const close = nearestWord(wanted, others);
  const named = [...new Set([...(close === undefined ? [] : [close]), ...others])];
  const more = named.length > MAX_NAMED ? ' and more' : '';
  const offer =
    named.length === 0 ? '' : ` The server offers ${named.slice(0, MAX_NAMED).join(', ')}${more}.`;
  const result = isOther ? warning : failed;
  return result(probe.reason, `${probe.fix}${offer}`.trim() || 'Try again later.', id);
}

/** Those that are always there are checked with the port. */
const LOCAL: ReadonlySet<string> = new Set(['web', 'terminal']);

function channelChecks(situation: Situation, { channels }: LoadedSettings): readonly Check[] {
  return Object.values(channels).flatMap((account) => {
    if (account.kind === 'disabled' || LOCAL.has(account.channel)) return [];
    const subject = nameOf(account);
    if (account.kind === 'broken') {
      const finding = skipped('its settings have problems; see above', subject);
      return [{ name: 'channel', run: async () => [finding] }];
    }
    const definition = situation.definitions.find(({ id }) => id === account.channel);
    const run = async (signal: AbortSignal): Promise<readonly Finding[]> => {
      const probe = await probeOf(situation, account, definition, signal);
      const findings = channelFindings(probe, stateOf(situation, account), subject);
      return [...findings, ...defectFindings(situation, account, subject)];
    };
    return [{ name: 'channel', run }];
  });
}

interface AccountName {
  readonly channel: string;
  readonly account: string;
}

function nameOf({ channel, account }: AccountName): string {
  return account === 'default' ? channel : `${channel}/${account}`;
}

type Configured = Extract<LoadedSettings['channels'][string], { kind: 'ok' }>;

async function probeOf(
  { folder, env, clock, clocks, database, gateway }: Situation,
  { channel, account, settings }: Configured,
  definition: ChannelDefinition | undefined,
  signal: AbortSignal,
): Promise<ChannelProbe> {
  if (definition?.probe === undefined)
    return { kind: 'unknown', reason: 'this channel shows how it is only while Parley runs' };
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

type AccountState = AccountStatus['state'] | 'not-served' | null;

/** What the running gateway says of an account; null where none runs. */
function stateOf(situation: Situation, name: AccountName): AccountState {
  if (situation.gateway.kind !== 'runs') return null;
  return servedAs(situation, name)?.state ?? 'not-served';
}

function servedAs(
  { gateway }: Situation,
  { channel, account }: AccountName,
): AccountStatus | undefined {
  if (gateway.kind !== 'runs') return undefined;
  return gateway.status.channels.find((one) => one.channel === channel && one.account === account);
}

/** What the adapter of an account did against its contract, also where messages still come and go. */
function defectFindings(
  situation: Situation,
  name: AccountName,
  subject: string,
): readonly Finding[] {
  const defects = servedAs(situation, name)?.defects;
  if (defects === undefined) return [];
  const fix = 'Report it to who wrote this channel, or update or remove it.';
  return [warning(`its adapter has ${defectsText(defects)}`, fix, subject)];
}

/** The worse of what the platform and the running gateway say. */
function channelFindings(
  probe: ChannelProbe,
  state: AccountState,
  subject: string,
): readonly Finding[] {
  const line = typeof state === 'object' && state !== null ? lineOf(state) : null;
  const works = state !== null && typeof state === 'object' && WORKS.has(state.kind);
  if (probe.kind === 'problem') {
    const { reason, fix, retryable } = probe;
    if (!works || !retryable) return [failed(reason, fix, subject)];
    return [warning(`${reason}; the running gateway is ${line}`, fix, subject)];
  }
  const trouble = stateTrouble(state, subject);
  if (trouble !== null) return [trouble];
  if (probe.kind === 'unlinked') return [warning(probe.reason, probe.fix, subject)];
  if (probe.kind === 'unknown')
    return [line === null ? skipped(probe.reason, subject) : ok(line, subject)];
  const { as, warnings } = probe;
  if (warnings.length > 0) return warnings.map(({ reason, fix }) => warning(reason, fix, subject));
  return [ok(line === null ? `the platform answers; the bot is ${as}` : line, subject)];
}

const WORKS: ReadonlySet<string> = new Set(['connected', 'standby', 'starting']);

/** A code that links an account is secret, and `channelLine` shows none. */
function lineOf(state: AccountStatus['state']): string {
  return channelLine({ channel: '', account: '', state });
}

function stateTrouble(state: AccountState, subject: string): Finding | null {
  if (state === null) return null;
  if (state === 'not-served') {
    return warning(
      'the running gateway does not serve it',
      'If it was added just now, look again in some seconds; else start Parley again.',
      subject,
    );
  }
  switch (state.kind) {
    case 'failed':
      return failed(state.reason, state.fix, subject);
    case 'retrying':
      return warning(lineOf(state), 'It tries again by itself; its log says more.', subject);
    case 'pairing':
      return warning(
        'it waits to be linked',
        'Take its code, on the page or in "parley status", to the phone.',
        subject,
      );
    case 'stopped':
      return warning('it is stopped', 'Start Parley again.', subject);
    default:
      return null;
  }
}

async function databaseFindings(situation: Situation): Promise<readonly Finding[]> {
  const { folder, env, database, gateway } = situation;
  if (database.kind === 'failed') return [failure(database.error)];
  const { kind, dialect, name, bytes } = database.state;
  const size = bytes === null || bytes === 0 ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`;
  const what = `${dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${name}${size}`;
  if (kind === 'absent') {
    const { checked } = situation;
    if (checked.kind === 'ok') refuseLostDatabase(folder, checked.settings);
  }
  if (kind === 'absent') return [ok(`${what}: there is none yet; the first start makes it`)];
  if (kind === 'behind') {
    const fix = `Nothing, the next start does it. A backup before that lets you go back: ${commandLine('backup FILE', folder)}`;
    return [warning(`${what}: its schema is that of an older Parley`, fix)];
  }
  if (gateway.kind === 'runs') {
    const { trouble } = gateway.status;
    if (trouble === undefined) {
      const fix = `See docs/deploy.md and docs/retention.md, and "${commandLine('dead list', folder)}".`;
      const notes = (gateway.status.notes ?? []).map((note) => warning(note, fix));
      const works = ok(`${what}; the running gateway reads and writes it`);
      return [works, ...notes, ...(await fileFindings(situation))];
    }
    return [failed(trouble, `Then look again with "${commandLine('status', folder)}".`)];
  }
  if (gateway.kind === 'silent') return [ok(`${what}; the schema is current`)];
  await withStore({ folder, env }, (store) => store.ping());
  return [ok(`${what}; it can be read and written`), ...(await fileFindings(situation))];
}

/** Files are not in the rows of the messages that they came with, so they can be missing. */
async function fileFindings({ folder, env }: Situation): Promise<readonly Finding[]> {
  const missing = await withStore({ folder, env }, (store) => store.files.missing());
  if (missing === 0) return [];
  const found = `${countOf(missing, 'file')} of messages ${missing === 1 ? 'is' : 'are'} missing or incomplete`;
  const fix =
    'Ask for them again, or restore a backup that has them; the agent says that it cannot read them. Files are kept for a day, so this ends by itself.';
  return [warning(found, fix)];
}

async function queueFindings(
  { settings: { queue } }: LoadedSettings,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { url } = queue;
  if (url === undefined) return [ok('in memory; each start fills it from the database')];
  const { host } = new URL(url);
  const probe = await probeRedis({ ...queue, url }, signal);
  if (probe.kind === 'problem') {
    const fix = 'Check that Redis runs there, and queue.url, user and password in the settings.';
    return [failed(`Redis at ${host} cannot be used: ${probe.reason}`, fix)];
  }
  const fix = 'Change that on the server of Redis.';
  if (probe.complaints.length > 0) return probe.complaints.map((text) => warning(text, fix));
  return [ok(`Redis ${probe.version} at ${host}`)];
}
